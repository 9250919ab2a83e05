"""One fault per tree: a table of clean trees broken in one place, with the check ids that must then fail, and no other."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.support.faults import (
    acc,
    after,
    as_file,
    at_root,
    conf,
    empty_log_right_hash,
    extra_scenario,
    gpt,
    interactive,
    invalid_run,
    logged_error,
    lower_case,
    mapping,
    measurements,
    network,
    numpy_scores,
    odd_document,
    offline_log_in_server,
    on_mi300x,
    on_one_small,
    open_on_mi300x,
    opened,
    padded_log,
    perf,
    rates,
    raw_log,
    removed,
    renamed_benchmark,
    repeated_key,
    replaced,
    scored,
    sparse,
    stray_folder,
    system,
    test06_log,
    texts,
    tree,
    wan,
    whole_log_wrong_hash,
)
from tests.support.trees import ACCURACY, DETAIL, SUMMARY, Tree

TTFT = "result_first_token_99.00_percentile_latency_ns"
TPOT = "result_time_per_output_token_99.00_percentile_ns"


@dataclass(frozen=True)
class Broken:
    """A fault: the check it is for, how to make it, ids it brings along, and the verdicts of the faulty result.

    `verdicts` are (official, strict) of the first result the fault stands in: "Server" or the one named by `at`.
    """

    check: str
    make: Callable[[], Tree]
    verdicts: tuple[str, str]
    also: tuple[str, ...] = ()
    at: str = "Server"
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.check}{f'-{self.name}' if self.name else ''}"


BOTH, STRICT, OFFICIAL, NONE = (
    ("invalid", "invalid"),
    ("valid", "invalid"),
    ("invalid", "valid"),
    ("valid", "valid"),
)


STRAY = ("LOG-001", "LOG-002", "ACC-001", "ACC-006", "AUD-001", "MEAS-001", "MEAS-002", "MEAS-003", "SCN-004")
CASES = (
    Broken("PERF-001", perf(effective_performance_sample_count=13367), BOTH),
    Broken("PERF-001", perf(effective_performance_sample_count=None), BOTH, name="key-missing"),
    Broken("PERF-002", perf(effective_qsl_rng_seed=2085463073848966841), BOTH),
    Broken("PERF-003", perf(effective_sample_index_rng_seed=0), BOTH),
    Broken("PERF-004", perf(effective_schedule_rng_seed=16159082839903944937), BOTH),
    Broken("PERF-004", perf(base=opened, effective_schedule_rng_seed=0), BOTH, name="open"),
    Broken("PERF-005", perf("Offline", effective_min_query_count=0), BOTH, at="Offline"),
    Broken("PERF-006", perf("Offline", effective_samples_per_query=13367), BOTH, at="Offline"),
    Broken(
        "PERF-006", perf("Offline", base=network, effective_samples_per_query=13367), STRICT, at="Offline", name="net"
    ),
    Broken("PERF-007", perf(effective_min_duration_ms=599999), BOTH),
    Broken("PERF-007", perf(base=opened, effective_min_duration_ms=599999), BOTH, name="open"),
    Broken("PERF-008", invalid_run, STRICT),
    Broken("PERF-009", perf(result_completed_tokens_per_second=None), BOTH),
    Broken("PERF-009", perf(result_completed_samples_per_sec=None), OFFICIAL, name="general-metric"),
    Broken("PERF-009", perf(result_completed_tokens_per_second=0), BOTH, name="zero"),
    Broken("PERF-009", perf(result_completed_tokens_per_second=-1.5), STRICT, name="negative"),
    Broken("PERF-010", perf(effective_sample_concatenate_permutation=False), STRICT),
    Broken("PERF-010", perf(base=opened, effective_sample_concatenate_permutation=False), NONE, name="open"),
    Broken("PERF-011", perf(base=network, sut_name="acme"), BOTH, also=("LOG-013",)),
    Broken("PERF-019", perf(base=network, get_sut_name_duration_ns=0), NONE),
    Broken("PERF-012", perf(result_min_duration_met=False), STRICT),
    Broken("PERF-013", perf(result_min_queries_met=False), STRICT),
    Broken("PERF-201", perf(base=on_mi300x, **rates(130_000)), STRICT),
    Broken("PERF-201", perf(base=open_on_mi300x, **rates(130_000)), NONE, name="open"),
    Broken("PERF-202", perf(base=on_mi300x, **rates(70_000)), NONE),
    Broken("PERF-203", on_one_small, NONE),
    Broken("LAT-001", perf(early_stopping_met=False), BOTH),
    Broken("LAT-001", perf(base=opened, early_stopping_met=False), BOTH, name="open-too-few"),
    Broken(
        "LAT-001",
        perf(base=opened, early_stopping_met=False, result_perf_constraints_met=False),
        OFFICIAL,
        name="open-latency-alone",
    ),
    Broken("LAT-002", perf(effective_target_latency_ns=20_000_000_001), BOTH),
    Broken("LAT-003", offline_log_in_server, BOTH, also=("SCN-005",)),
    Broken("LAT-004", perf(requested_use_token_latencies=None), BOTH),
    Broken("LAT-004", perf(base=opened, requested_use_token_latencies=None), BOTH, name="open"),
    Broken("LAT-005", perf(**{TTFT: 2_000_000_000}), BOTH),
    Broken("LAT-005", perf(**{TTFT: None}), BOTH, name="key-missing"),
    Broken("LAT-005", perf(base=opened, **{TTFT: 2_000_000_000}), OFFICIAL, name="open"),
    Broken(
        "LAT-005", perf("Interactive", base=interactive, **{TTFT: 500_000_000}), STRICT, at="Interactive", name="O17"
    ),
    Broken("LAT-006", perf(**{TPOT: 100_000_000}), BOTH),
    Broken(
        "LAT-006", perf("Interactive", base=interactive, **{TPOT: 30_000_000}), STRICT, at="Interactive", name="O17"
    ),
    Broken("LAT-007", perf(**{TPOT: -5}), STRICT),
    Broken("LOG-001", removed(f"performance/run_1/{DETAIL}"), BOTH),
    Broken("LOG-002", removed(f"accuracy/{DETAIL}"), BOTH),
    Broken("LOG-003", raw_log(lambda text: text + ':::MLLOG {"key": "num_err'), BOTH, name="cut"),
    Broken(
        "LOG-003",
        raw_log(lambda text: text.replace('"acme"', '"ac"me"')),
        OFFICIAL,
        also=("LOG-013",),
        name="quote-in-name",
    ),
    Broken("LOG-003", raw_log(lambda text: "warning: slow disk\n" + text), OFFICIAL, name="first-line"),
    Broken("LOG-003", raw_log(lambda text: text + "ld.so: object not found\n"), NONE, name="noise"),
    Broken("LOG-004", logged_error("performance/run_1"), STRICT),
    Broken("LOG-005", logged_error("accuracy"), BOTH),
    Broken("LOG-006", perf(effective_test_mode="AccuracyOnly"), STRICT),
    Broken("LOG-007", acc(effective_test_mode="PerformanceOnly"), STRICT),
    Broken("LOG-008", acc(effective_scenario="Offline"), STRICT),
    Broken("LOG-009", repeated_key, NONE),
    Broken("LOG-010", replaced(f"performance/run_1/{SUMMARY}", "is : VALID", "is : INVALID"), STRICT),
    Broken("LOG-010", replaced(f"performance/run_1/{SUMMARY}", ": Server", ": Offline"), STRICT, name="scenario"),
    Broken("LOG-011", perf(loadgen_version="5.1.3 @ 0123456789"), NONE),
    Broken("LOG-012", perf(effective_accuracy_log_sampling_target=100), STRICT),
    Broken(
        "LOG-012", texts("performance/run_1/audit.config", "*.*.mode = 2\n"), STRICT, also=("STR-012",), name="left"
    ),
    Broken("LAT-008", perf(requested_server_ttft_latency=2_000_000_001), STRICT, name="ttft"),
    Broken("LAT-008", perf(requested_server_tpot_latency=100_000_001), STRICT, name="tpot"),
    Broken("LAT-008", perf(base=opened, requested_server_tpot_latency=100_000_001), NONE, name="open"),
    Broken("LAT-009", perf(effective_target_latency_percentile=0.98), STRICT),
    Broken("LAT-009", perf(base=opened, effective_target_latency_percentile=0.98), NONE, name="open"),
    Broken("ACC-001", removed("accuracy/accuracy.txt"), BOTH),
    Broken("ACC-001", texts("accuracy/accuracy.txt", "", base=opened), STRICT, name="open-empty"),
    Broken("ACC-002", scored(ROUGE1=38.3914), BOTH),
    Broken("ACC-002", scored(opened, ROUGE1=1.0), NONE, name="open"),
    Broken("ACC-002", scored(line="{'rouge1': 12.5}"), STRICT, name="after-the-hash"),
    Broken("ACC-002", numpy_scores, OFFICIAL, name="numpy2"),
    Broken("ACC-003", scored(GEN_LEN=8984409), BOTH),
    Broken("ACC-004", replaced("accuracy/accuracy.txt", "hash=", "sha="), BOTH),
    Broken("ACC-004", replaced("accuracy/accuracy.txt", "hash=", "sha=", base=opened), NONE, name="open"),
    Broken("ACC-004", replaced("accuracy/accuracy.txt", "hash=", "hash=0"), STRICT, name="65-digits"),
    Broken("ACC-004", replaced("accuracy/accuracy.txt", "hash=", "hash=g"), STRICT, name="not-hex"),
    Broken("ACC-005", whole_log_wrong_hash, STRICT, also=("ACC-009",)),
    Broken("ACC-006", removed(f"accuracy/{ACCURACY}"), BOTH),
    Broken("ACC-007", padded_log(10241), BOTH),
    Broken("ACC-008", acc(effective_accuracy_sample_count=13367), BOTH),
    Broken("ACC-009", empty_log_right_hash, STRICT),
    Broken("ACC-009", texts(f"accuracy/{ACCURACY}", "[[1]]"), STRICT, name="another-form"),
    Broken("ACC-010", acc(effective_qsl_rng_seed=0), NONE),
    Broken("ACC-011", removed("accuracy/videos/130.png", "Offline", base=wan), BOTH, at="Offline"),
    Broken("ACC-011", removed("accuracy/videos", "Offline", base=wan), BOTH, at="Offline", name="no-folder"),
    Broken("SYS-001", lambda: tree().remove("closed/Acme/systems"), BOTH),
    Broken("SYS-001", odd_document(None, lambda text: text[:200]), BOTH, name="cut"),
    Broken("SYS-002", odd_document(None, lambda text: text.rstrip("}\n ") + ",\n}"), OFFICIAL),
    Broken("SYS-003", system(status="soon"), BOTH),
    Broken("SYS-004", system(system_type="Datacenter"), BOTH),
    Broken("SYS-005", system(is_network="true"), BOTH, also=("SYS-006", "PERF-011"), name="true-in-closed"),
    Broken("SYS-005", system(is_network=False), OFFICIAL, name="json-false"),
    Broken("SYS-006", system(cooling=None), BOTH),
    Broken("SYS-006", system(is_network="false"), BOTH, name="network-fields"),
    Broken("SYS-007", system(accelerators_per_node=0), BOTH),
    Broken("SYS-008", system(submitter="Other"), BOTH),
    Broken("SYS-009", system(division="open"), BOTH),
    Broken("SYS-010", system(favourite_colour="blue"), NONE),
    Broken("SYS-011", system(cooling="TBD"), STRICT),
    Broken("SYS-011", system(hw_notes="fans: TODO"), NONE, name="in-notes"),
    Broken("SYS-012", system(accelerators_per_node="8x"), OFFICIAL),
    Broken("SYS-013", system(host_processors_per_node="two"), NONE),
    Broken("MEAS-001", removed("measurements.json"), BOTH),
    Broken("MEAS-002", texts("user.conf", ""), BOTH),
    Broken("MEAS-003", texts("README.md", ""), BOTH),
    Broken("MEAS-004", measurements(retraining=False), BOTH),
    Broken("MEAS-005", odd_document("measurements.json", lambda text: "\ufeff" + text), OFFICIAL),
    Broken("MEAS-007", conf("*.Server.target_qps = 10", "*.Server.min_durration = 600000"), STRICT),
    Broken("MEAS-007", conf("*.Server.target_qps = 10", "*.Server.min_duration=600000"), STRICT, name="no-blanks"),
    Broken(
        "MEAS-007", conf("*.Server.target_qps = 10", "*.Server.min_durration = 600000", base=opened), NONE, name="open"
    ),
    Broken(
        "MEAS-007",
        conf("*.Server.target_qps = 10", "*.Server.min_duration = 7", "*.Server.min_durration = 7"),
        NONE,
        name="said-elsewhere",
    ),
    Broken("MEAS-007", conf("*.Server.target_qps = 10", "*.Server.target_qps = 11"), NONE, name="twice"),
    Broken("MEAS-008", conf("llama3.1-8B.Server.target_qps = 10"), NONE, name="model"),
    Broken("MEAS-008", conf("*.server.target_qps = 10"), STRICT, also=("MEAS-007",), name="scenario"),
    Broken("MEAS-008", conf("*.Server.target_qsp = 10"), STRICT, also=("MEAS-007",), name="key"),
    Broken("MEAS-006", measurements(weight_transformations="todo"), NONE),
    Broken("SCN-001", stray_folder, BOTH, also=STRAY, at="old"),
    Broken("SCN-001", lower_case, NONE, at="server", name="lower-case"),
    Broken("SCN-002", renamed_benchmark("llama4"), BOTH, also=("STR-023",)),
    Broken("SCN-003", lambda: (made := tree()).remove(made.path("Server")), BOTH, at="Offline"),
    Broken("SCN-003", lambda: (made := opened()).remove(made.path("Server")), NONE, at="Offline", name="open"),
    Broken("SCN-003", system(system_type="edge"), BOTH, name="suite"),
    Broken("SCN-004", extra_scenario, BOTH, also=("SCN-005", "LOG-008")),
    Broken("SCN-005", perf(effective_scenario="MultiStream"), BOTH, also=("PERF-009", "LOG-010")),
    Broken("AUD-001", removed("TEST06"), BOTH),
    Broken("AUD-002", removed("TEST06/verify_accuracy.txt"), BOTH),
    Broken("AUD-003", replaced("TEST06/verify_accuracy.txt", "EOS check pass: True", "EOS check pass: False"), BOTH),
    Broken("AUD-004", replaced("TEST07/verify_accuracy.txt", "TEST PASS", "TEST FAIL", base=gpt), BOTH),
    Broken("AUD-005", replaced("TEST09/verify_output_len.txt", "TEST PASS", "TEST FAIL", base=gpt), BOTH),
    Broken("AUD-006", test06_log([(3, [5, 128001, 128009])]), STRICT),
    Broken("AUD-007", test06_log([]), NONE),
    Broken("AUD-007", texts(f"TEST06/accuracy/{ACCURACY}", '[\n{ "seq_id" : 0, "qsl'), NONE, name="cut"),
    Broken("AUD-008", removed("TEST07/performance", base=gpt), NONE),
    Broken("STR-001", at_root("old/notes.md"), NONE),
    Broken("STR-002", at_root("run.log"), NONE, name="root"),
    Broken("STR-002", at_root("closed/run.log"), NONE, name="division"),
    Broken("STR-003", after(lambda sub: (sub / "src/link").symlink_to("nowhere")), STRICT),
    Broken("STR-004", after(lambda sub: sparse(sub / "src/weights.bin", 50 * 1024 * 1024 + 1)), STRICT),
    Broken("STR-005", at_root("{sub}/src/.gitkeep"), NONE),
    Broken("STR-006", at_root("{sub}/src/read me.md"), NONE),
    Broken("STR-007", at_root("{sub}/src/__pycache__/a.pyc"), NONE, name="cache"),
    Broken("STR-007", after(lambda sub: (sub / "documentation/empty").mkdir()), NONE, name="empty"),
    Broken("STR-008", at_root("{sub}/systems/spare.json", "{}"), NONE),
    Broken("STR-009", lambda: tree().remove("closed/Acme/documentation/calibration.md"), NONE),
    Broken("STR-010", lambda: tree().remove("closed/Acme/src"), BOTH),
    Broken("STR-010", lambda: as_file(tree(), "closed/Acme/src"), STRICT, name="file"),
    Broken("STR-011", texts("accuracy/notes.txt", "x"), NONE),
    Broken("STR-012", removed(f"performance/run_1/{SUMMARY}"), NONE),
    Broken("STR-015", mapping('{"a": '), BOTH),
    Broken("STR-015", mapping('["a", "b"]'), STRICT, name="array"),
    Broken("STR-015", mapping('["a", "b",]'), BOTH, name="array-comma"),
    Broken("STR-015", mapping('{"a": "b",}'), OFFICIAL, name="comma"),
    Broken("STR-015", mapping('{"a": "b", "a": "c"}'), NONE, name="twice"),
    Broken("STR-019", after(lambda sub: (sub / "src/link").symlink_to("README.md")), STRICT),
    Broken("STR-016", at_root("{sub}/scripts/run.sh"), NONE),
)
"""Every check but those of whole trees (STR-013, STR-014, STR-017, STR-018), which the test makes by hand."""
