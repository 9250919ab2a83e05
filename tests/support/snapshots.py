"""What lies in a folder: every file's bytes and every empty folder, by relative path."""

from pathlib import Path


def snapshot(root: Path) -> dict[str, bytes | None]:
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name] = None
    return found
