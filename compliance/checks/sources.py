"""Where a check's question stands: the official checkers, LoadGen and the rules' texts, by file and line."""

INFERENCE = "mlcommons/inference b66003e1"
"""Repository and commit of the official checkers and of LoadGen, whose files the citations name."""

_PATHS = {
    "accuracy_check.py": "submission_checker/checks/accuracy_check.py",
    "compliance_check.py": "submission_checker/checks/compliance_check.py",
    "measurements_checks.py": "submission_checker/checks/measurements_checks.py",
    "power_check.py": "submission_checker/checks/power_check.py",
    "power_checker.py": "submission_checker/checks/power/power_checker.py",
    "performance_check.py": "submission_checker/checks/performance_check.py",
    "system_check.py": "submission_checker/checks/system_check.py",
    "configuration.py": "submission_checker/configuration/configuration.py",
    "constants.py": "submission_checker/constants.py",
    "loader.py": "submission_checker/loader.py",
    "utils.py": "submission_checker/utils.py",
    "results.py": "submission_checker/results.py",
    "endpoints_parser.py": "submission_checker/parsers/endpoints_parser.py",
    "loadgen_parser.py": "submission_checker/parsers/loadgen_parser.py",
    "old": "submission_checker_old.py",
    "generate_final_report.py": "generate_final_report.py",
}
"""Files of tools/submission by their short names; `old` is the checker before the package, which asks more."""


def cite(short: str) -> str:
    """The citation in full: each file with its path, the repository and its commit before the first one.

    `short` holds parts joined by "; ": a file with its lines, or "weighbridge: " and the reason, where the official
    checker does not ask and the check is this project's own.
    """
    parts: list[str] = []
    for part in short.split("; "):
        name, colon, lines = part.partition(":")
        known = name in _PATHS or name.startswith(("loadgen/", "compliance/"))
        first = known and not any(INFERENCE in done for done in parts)
        parts.append((f"{INFERENCE} " if first else "") + _PATHS.get(name, name) + colon + lines)
    return "; ".join(parts)
