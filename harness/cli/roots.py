"""The TREE of a command: a folder that is there."""

from pathlib import Path

import typer


def existing_tree(tree: Path) -> Path:
    """The tree that was named. Raises BadParameter, with what to give, where there is no such folder."""
    if not tree.is_dir():
        reason = "is no folder" if tree.exists() else "does not exist"
        raise typer.BadParameter(f"{str(tree)!r} {reason}; give the root that holds closed/", param_hint="TREE")
    return tree
