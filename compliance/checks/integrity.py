"""STR-: the tree is what was packaged: nothing changed since, nothing that stands elsewhere."""

from collections.abc import Iterator

from compliance.checks.facts import strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.vocabulary import Severity


@check(
    "STR-018",
    "the tree is as it was packaged",
    "weighbridge: the manifest that `weighbridge package` writes beside the tree",
    Scope.TREE,
    fix="Package the campaign anew, with what should differ changed there; or, if the change is meant, keep it.",
    lowers=False,
)
def as_packaged(subject: Subject) -> Iterator[Finding | Skip]:
    """No file changed, went missing or was added since packaging; asked where a manifest stands beside the tree."""
    for path, how in subject.submission.differences:
        yield strictly(Finding(path, "the file as its manifest has it", how), Severity.WARNING)


@check(
    "STR-019",
    "the tree holds files, not links to them",
    "weighbridge: a link is not submitted with what it leads to",
    Scope.FILES,
    fix="Put the file itself in the link's place.",
)
def links(subject: Subject) -> Iterator[Finding | Skip]:
    """No symbolic link stands beneath a submitter, wherever it leads; one that leads nowhere is STR-003's."""
    root = f"{subject.submitter.path}/" if subject.submitter else ""
    for entry in subject.submission.files:
        if entry.kind == "link" and entry.path.startswith(root):
            yield strictly(Finding(entry.path, "the file or folder itself", "a symbolic link"))
