"""What must not leave the submitter's house: keys, and paths that say who runs the machine."""

import re
from pathlib import PurePosixPath

_SECRETS = (
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{20,}")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("a GitHub token", re.compile(r"\b(?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z0-9_]{20,}")),
    ("an AWS access key", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("a password in a URL", re.compile(r"\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@")),
)
_PRIVATE_PATHS = re.compile(r"(?<![\w./~-])(?:/home/[\w.-]+|/Users/[\w.-]+|/root)(?=[/\s\"'`,;:)]|$)")
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/~-])/(?:[\w.+@=-]+/)+[\w.+@=-]+/?")


def private_content(text: str) -> tuple[str, ...]:
    """What in a text must not be published, described without repeating a secret. Empty when there is nothing."""
    found = [name for name, pattern in _SECRETS if pattern.search(text)]
    found += [f"the private path {match}" for match in sorted(set(_PRIVATE_PATHS.findall(text)))]
    return tuple(found)


def public_name(text: str) -> str:
    """A text with each absolute path of the machine cut to its last name: /data/models/llama becomes llama."""
    return _ABSOLUTE_PATH.sub(lambda match: PurePosixPath(match.group()).name, text)
