"""How the report writes numbers and verdicts: one way for the page and for the text."""

_GOOD = frozenset({"pass", "valid", "VALID", "ok", "True", True})
_BAD = frozenset({"fail", "invalid", "INVALID", "failed", "interrupted", "False", "error", False})
_WARN = frozenset({"not_judged", "warning", "not run", "Skipped"})
_THOUSAND, _HUNDRED, _ONE = 1000, 100, 1


def number(value: float | None) -> str:
    """A measured number with as many digits as a reader compares: 12,345 or 348.2 or 0.0421; a dash for None."""
    if value is None:
        return "–"  # noqa: RUF001 - a dash is meant
    size = abs(value)
    if size >= _THOUSAND:
        return f"{value:,.0f}"
    if size >= _HUNDRED:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.4g}"


def bound(value: float | None) -> str:
    """A bound of the rules to six digits, as accuracy is compared exactly; a dash for None."""
    return "–" if value is None else f"{value:,.6g}"  # noqa: RUF001 - a dash is meant


def percent(value: float | None) -> str:
    """A signed margin: +1.23 %."""
    return "–" if value is None else f"{value:+.2f} %"  # noqa: RUF001 - a dash is meant


def tone(verdict: object) -> str:
    """How a verdict is coloured: good, bad, warn or plain."""
    if verdict in _GOOD:
        return "good"
    if verdict in _BAD:
        return "bad"
    return "warn" if verdict in _WARN else "plain"


def says(verdict: object) -> str:
    """A verdict in words: `not_judged` becomes "not judged", True "pass", None "not verified"."""
    if verdict is None:
        return "not verified"
    if isinstance(verdict, bool):
        return "pass" if verdict else "fail"
    return str(verdict).replace("_", " ")
