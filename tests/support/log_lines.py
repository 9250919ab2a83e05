"""Lines of a detail log in LoadGen's form."""

import json


def mllog(key: str, value: object, *, error: bool = False, warning: bool = False, marker: str = ":::MLLOG") -> str:
    return f"{marker} " + json.dumps(record(key, value, error=error, warning=warning))


def record(key: str, value: object, *, error: bool = False, warning: bool = False) -> dict[str, object]:
    return {
        "key": key,
        "value": value,
        "time_ms": 1.5,
        "namespace": "mlperf::logging",
        "event_type": "POINT_IN_TIME",
        "metadata": {
            "is_error": error,
            "is_warning": warning,
            "file": "x.cc",
            "line_no": 1,
            "pid": 1,
            "tid": 2**63 + 1,
        },
    }


def raw(key: str, value: str, *, error: str = "false", time: str = "1.000000") -> str:
    """A line whose value stands as given, in no JSON's form."""
    return (
        f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": {time}, "namespace": "mlperf::logging", '
        f'"event_type": "POINT_IN_TIME", "metadata": {{"is_error": {error}, "is_warning": false, "file": "a.cc", '
        '"line_no": 592, "pid": 3172, "tid": 3284}}'
    )
