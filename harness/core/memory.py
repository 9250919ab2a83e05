"""The memory of this process, as the kernel counts it."""

from pathlib import Path

_STATUS = Path("/proc/self/status")
_KIB = 1024


def resident() -> int:
    """Resident memory in bytes; 0 where the kernel does not say."""
    return _field("VmRSS:")


def peak() -> int:
    """The most that was ever resident, in bytes; 0 where the kernel does not say."""
    return _field("VmHWM:")


def _field(name: str) -> int:
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * _KIB for line in lines if line.startswith(name)), 0)
