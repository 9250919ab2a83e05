"""The rules of power measurement as a reader or a script wants them: 80-column text, and JSON-able members."""

from collections.abc import Mapping

from compliance.rulebook.power import PowerRules, power_sources
from compliance.rulebook.text import WIDTH, Json, members_of, row_text, sources_text


def power_json(rules: PowerRules) -> dict[str, Json]:
    """The rules as JSON-able members, named as the fields of `PowerRules`; `rule_sources` tells where blocks stand."""
    return {**members_of(rules), "rule_sources": dict(power_sources())}


def power_text(rules: PowerRules, width: int = WIDTH) -> str:
    """The rules as text of at most `width` columns."""
    lines = ["Power measurement, in every round", ""]
    for title, rows in _parts(rules).items():
        lines += [title, *(line for label, text in rows for line in row_text(label, text, width)), ""]
    lines.append("Power workflow: the SHA-1 of its files")
    lines += [f"  {digest}  {name}" for release in rules.sources for name, digest in release.items()]
    return "\n".join([*lines, *sources_text(power_sources(), width)]) + "\n"


def _parts(rules: PowerRules) -> Mapping[str, tuple[tuple[str, str], ...]]:
    ptd = rules.ptd
    device = f"{ptd.multichannel_device} (needs two channels)"
    return {
        "Files": (
            ("in power/", ", ".join(rules.power_files)),
            ("in run_1/ and ranging/", ", ".join(rules.run_files)),
            ("hashed in the session", ", ".join(rules.hashed_files)),
            ("of the analyser begin", ", ".join(rules.measure_prefixes)),
        ),
        "Limits": (
            ("between the clocks", f"{rules.phase_tolerance_ms} ms"),
            ("mean power may fall by", f"{rules.power_drop_percent} % from ranging to testing"),
            ("duration may fall by", f"{rules.duration_drop_percent} % from ranging to testing"),
            ("load window", f"narrowed by {rules.phase_tolerance_ms} ms; officially {rules.official_load_margin_s} s"),
        ),
        "PTDaemon": (
            ("versions", ", ".join(ptd.versions)),
            ("meters", ", ".join(f"{name} ({number})" for name, number in ptd.meters.items())),
            ("several channels", device),
            *((f"answer to {command}", answer) for command, answer in ptd.replies.items()),
            ("to the third Stop", ptd.last_stop_reply),
            ("let through in ranging", "; ".join(ptd.ranging_errors)),
            ("let through always", "; ".join(ptd.accepted_errors)),
            ("an error under load", "N".join(ptd.uncertainty)),
        ),
        "Description": (
            ("fields asked for", ", ".join(rules.system_fields)),
            ("nameplate", f"{rules.nameplate_field} in {rules.nameplate_path}"),
            ("nameplate in rounds", ", ".join(rules.nameplate_rounds)),
        ),
    }
