"""The rule data against the tables of the reference, cell by cell, where a checkout has it beside it."""

import re

import pytest

from compliance.rulebook.model import BenchmarkRules, SuiteRules
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Scenario, Suite
from tests.support.rule_tables import (
    NO_REFERENCE,
    REFERENCE,
    in_rounds,
    names,
    numbers,
    plain,
    products,
    rows,
    section,
    tree_paths,
)

pytestmark = pytest.mark.skipif(not REFERENCE.is_file(), reason=NO_REFERENCE)

ROUNDS = ("v5.0", "v5.1", "v6.0", "v6.1")
OFFLINE, SERVER, INTERACTIVE = Scenario.OFFLINE, Scenario.SERVER, Scenario.INTERACTIVE
SINGLE, MULTI = Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM
SHORT = {"S": SERVER, "O": OFFLINE, "SS": SINGLE, "MS": MULTI, "I": INTERACTIVE}
KNOWN = tuple(sorted({name for one in ROUNDS for name in load_round(one).benchmarks}))
Needs = tuple[set[Scenario], list[set[Scenario]]]
ROUNDED = 6e-7
"""Products in the tables are cut to six decimals."""

METRICS = {"gsm8k": "gsm8k_accuracy", "mbxp": "mbxp_accuracy", "NE": "DLRM_NE", "ACC": "DLRM_ACC", "AUC": "DLRM_AUC"}


def every(name: str) -> list[tuple[str, BenchmarkRules]]:
    """The benchmark in each round that has it."""
    return [(one, load_round(one).benchmarks[name]) for one in ROUNDS if name in load_round(one).benchmarks]


def needs(suite: SuiteRules | None) -> Needs | None:
    return None if suite is None else (set(suite.required), [set(group) for group in suite.one_of])


def scenarios(cell: str) -> Needs | None:
    """Server+Offline, Offline + S|I, "-" and removed."""
    text = plain(cell)
    if text in {"-", "removed", "none"} or not text:
        return None
    required, choice = set[Scenario](), list[set[Scenario]]()
    for part in re.split(r"\s*\+\s*", text):
        if "|" in part:
            choice.append({SHORT[one] for one in part.split("|")})
        else:
            required.add(SHORT[part] if part in SHORT else Scenario(part))
    return required, choice


def test_the_seeds() -> None:
    table = {row[0]: tuple(int(cell) for cell in row[1:]) for row in rows("1.2")}
    assert tuple(table) == ROUNDS
    for one in ROUNDS:
        seeds = load_round(one).seeds
        assert (seeds.qsl, seeds.sample_index, seeds.schedule) == table[one]


def test_the_scenarios_of_text_generation() -> None:
    seen = set()
    for cell, *by_round, edge in rows("1.3"):
        for name in names(cell, KNOWN):
            seen.add(name)
            for one, wanted in zip(ROUNDS, by_round, strict=True):
                rules = load_round(one).benchmarks.get(name)
                assert needs(rules.suites.get(Suite.DATACENTER) if rules else None) == scenarios(wanted), (one, name)
                in_edge = scenarios(edge) if one in in_rounds(edge, ROUNDS) else None
                assert needs(rules.suites.get(Suite.EDGE) if rules else None) == in_edge, (one, name)
    assert seen >= {
        rules.name for one in ROUNDS for rules in load_round(one).benchmarks.values() if rules.token_latencies
    }


def wanted_minima(name: str, cell: str, first: str) -> list[float]:
    """The least values a row of 1.4 names for a benchmark, of `first`'s row where it says "same refs"."""
    if "same refs" in cell:
        references = re.findall(r"([A-Z_0-9]+) ([\d.]+)x", first)
        factors = [0.9 if metric == "TOKENS_PER_SAMPLE" else 0.999 for metric, _ in references]
        values = [float(reference) * factor for (_, reference), factor in zip(references, factors, strict=True)]
        assert numbers(cell.partition(":")[2]) == pytest.approx(values, rel=0, abs=ROUNDED)
        assert "x.999" in cell
        return values
    if "each x" in cell:
        factor = 0.999 if name.endswith("99.9") else 0.99
        return [
            *(float(value) * factor for value in re.findall(r"ROUGE\w* ([\d.]+)", cell)),
            *(value for *_, value in products(cell.rpartition(";")[2])),
        ]
    if ">=" in cell:
        parts = cell.replace("E2E_ACCURACY", "").split("/")
        return numbers(parts[1 if name.endswith("-db") else 0])
    for _, product, computed in products(cell):
        assert product == pytest.approx(computed, rel=0, abs=ROUNDED)
    return [computed for *_, computed in products(cell.partition("; v6.1 Interactive")[0])]


def wanted_maximum(cell: str, rules: BenchmarkRules) -> float | None:
    """The upper limit of a row of 1.4."""
    if cell == "-":
        return None
    if "x1.1" in cell and not re.search(r"\dx1\.1", cell):
        return numbers(cell.partition("=")[2])[0]
    found = [
        computed for _, product, computed in products(cell) if product == pytest.approx(computed, rel=0, abs=ROUNDED)
    ]
    assert found or "x" not in cell
    return found[0] if found else numbers(cell.rsplit(maxsplit=1)[-1])[0]


def test_the_accuracy_targets() -> None:
    table = rows("1.4")
    for cell, minima, upper in table:
        also = ["llama2-70b-interactive" + suffix for suffix in re.findall(r"interactive(-99\.9|-99)\b", cell)]
        for name in [*names(cell, KNOWN), *also]:
            for one, rules in every(name):
                least = [target.minimum for target in rules.accuracy if target.minimum is not None]
                assert least == pytest.approx(wanted_minima(name, minima, table[0][1]), rel=1e-9), (one, name)
                greatest = [target.maximum for target in rules.accuracy if target.maximum is not None]
                limit = wanted_maximum(upper, rules)
                assert greatest == pytest.approx([] if limit is None else [limit], rel=1e-9), (one, name)
                named = re.findall(r"([A-Za-z]\w*) (?:>= )?\(?[\d.]+", plain_metrics(minima, table[0][1]))
                metrics = [target.metric for target in rules.accuracy if target.minimum is not None]
                assert [METRICS.get(one_name, one_name) for one_name in named] == metrics, (one, name)


def plain_metrics(cell: str, first: str) -> str:
    """A row's metrics, of `first`'s row where it says "same refs", without what is said of one scenario."""
    return (first if "same refs" in cell else cell).partition("; v6.1 Interactive")[0]


def test_accuracy_of_a_scenario_of_its_own() -> None:
    (cell,) = [row[1] for row in rows("1.4") if row[0] == "qwen3-vl-235b-a22b"]
    (_, _, own) = list(products(cell.partition("; v6.1 Interactive")[2]))[-1]
    for one, rules in every("qwen3-vl-235b-a22b"):
        values = [target.minimum for target in rules.targets(INTERACTIVE)]
        assert values == pytest.approx([own if one == "v6.1" else rules.accuracy[0].minimum], rel=1e-9)


def sized(cell: str, place: int) -> float:
    """The number of a cell, or of the `place`-th name of its row."""
    found = numbers(plain(cell).split("; ")[0])
    return found[min(place, len(found) - 1)]


def query_minima(cell: str, usual: dict[Scenario, float]) -> dict[Scenario, float]:
    if cell == "same":
        return usual
    if "/" in cell:
        parts = zip((SINGLE, SERVER, OFFLINE), cell.split(" / "), strict=True)
        return {scenario: float(part) for scenario, part in parts if part.strip() != "-"}
    found = re.findall(r"([A-Za-z]+) (\d+)", cell)
    return {SHORT.get(word) or Scenario(word): float(number) for word, number in found}


def test_the_sample_counts_and_query_minima() -> None:
    usual: dict[Scenario, float] = {}
    for cell, size, performance, per_query, queries in rows("1.5"):
        usual = query_minima(queries, usual)
        listed = names(cell, KNOWN)
        for number, name in enumerate(listed):
            place = number if "/" in size else 0
            for one, rules in every(name):
                assert rules.dataset_size == sized(size, place), (one, name)
                assert rules.performance_sample_count == sized(performance, place), (one, name)
                override = re.search(r"accuracy uses (\d+)", size)
                assert rules.accuracy_sample_count == (int(override[1]) if override else rules.dataset_size)
                offline = rules.scenarios.get(OFFLINE)
                wanted = None if per_query.startswith("missing") else sized(per_query, place)
                assert (offline.min_samples_per_query if offline else None) == wanted, (one, name)
                for scenario, limits in rules.scenarios.items():
                    if scenario is not INTERACTIVE:
                        assert limits.checker_min_query_count == usual[scenario], (one, name, scenario)
        if "Interactive accuracy" in size:
            assert load_round("v6.1").benchmarks[listed[0]].accuracy_samples(INTERACTIVE) == numbers(size)[-1]


def test_the_latency_limits() -> None:
    seen = set()
    for cell, server, interactive in rows("1.6"):
        for name in names(cell, KNOWN):
            seen.add(name)
            for one, rules in every(name):
                for scenario, text in ((SERVER, server), (INTERACTIVE, interactive)):
                    limits = rules.scenarios.get(scenario)
                    wanted = None if text == "-" else tuple(numbers(plain(text)))
                    if limits is not None:
                        assert (limits.max_ttft_p99_ms, limits.max_tpot_p99_ms) == (wanted or (None, None)), (one, name)
                    else:
                        assert scenario is INTERACTIVE, (one, name)
    for clause in re.split(r"[;:]", section("1.6").partition("End-to-end")[2]):
        limit = re.search(r"([\w./, -]+) Server (\d+) s", clause)
        for name in names(limit[1].strip().replace("llama2", "llama2-70b-*"), KNOWN) if limit else ():
            seen.discard(name)
            for one, rules in every(name):
                server = rules.scenarios.get(SERVER)
                assert server is None or server.max_latency_p99_ms == int(limit[2]) * 1000, (one, name)
    assert not seen


def audits(cell: str) -> set[str]:
    return {f"TEST{number}" for number in re.findall(r"\b(?:TEST)?(0\d)\b", cell)}


def test_the_audits() -> None:
    last: set[str] = set()
    for cell, *by_round in rows("1.7"):
        for name in names(cell.replace("gptj-*", "gptj-99 / -99.9"), KNOWN):
            for one, text in zip(ROUNDS, by_round, strict=True):
                rules = load_round(one).benchmarks.get(name)
                if rules is None:
                    continue
                last = audits(plain(text))
                assert {audit.value for audit in rules.audits} == last, (one, name)


def other_scenarios(cell: str, one: str) -> set[Scenario]:
    """A round's scenarios in a cell of 1.9: "v5.0 S+O; later none", "SS+MS+O (v5.x)", "-"."""
    for part in cell.split(";"):
        text = re.sub(r"\(type [^)]*\)", "", part).strip()
        if text == "-":
            return set()
        if "none" in text or one in in_rounds(re.sub(r"[^v\d.x,+ -]", "", text) if "v" in text else "", ROUNDS):
            bare = re.sub(r"v\d\.\S+", "", plain(text)).strip()
            return set() if "none" in bare else {SHORT[letter] for letter in bare.split("+")}
    return set()


@pytest.mark.parametrize("row", rows("1.9") if REFERENCE.is_file() else [], ids=lambda row: row[0])
def test_another_benchmark(row: list[str]) -> None:
    cell, rounds, datacenter, edge, minima, sizes, latency, tests = row
    listed = names(cell, KNOWN)
    for place, name in enumerate(listed):
        assert [one for one, _ in every(name)] == list(in_rounds(plain(rounds), ROUNDS)), name
        for one, rules in every(name):
            for suite, text in ((Suite.DATACENTER, datacenter), (Suite.EDGE, edge)):
                own = rules.suites.get(suite)
                assert (set(own.required) if own else set()) == other_scenarios(text, one), (one, name, suite)
            counts = [int(part) for part in re.findall(r"\d+", sizes.partition(",")[0].replace("x3", ""))]
            size, performance, *rest = counts * 3 if "x3" in sizes else counts
            offline = rules.scenarios.get(OFFLINE)
            assert (rules.dataset_size, rules.performance_sample_count) == (size, performance), (one, name)
            assert offline is None or offline.min_samples_per_query == rest[0], (one, name)
            server = rules.scenarios.get(SERVER)
            factor = 1000 if latency.endswith(" s") else 1
            limit = None if latency == "-" else numbers(latency)[0] * factor
            assert server is None or server.max_latency_p99_ms == limit, (one, name)
            assert {audit.value for audit in rules.audits} == audits(tests.partition(";")[0]), (one, name)
            assert [target.minimum for target in rules.accuracy] == pytest.approx(
                other_minima(minima, place), rel=0, abs=1e-10
            )
            if "listed ids" in tests:
                listed_in = in_rounds(tests.partition("lists for")[2].partition(";")[0], ROUNDS)
                wanted = (re.findall(r"accuracy/(\w+) with (\d+)", tests)[0]) if one in listed_in else None
                samples = rules.accuracy_files
                assert (samples and (samples.folder, str(len(samples.names)))) == wanted, (one, name)
            greatest = [target.maximum for target in rules.accuracy if target.maximum is not None]
            assert greatest == pytest.approx(
                [float(one) for one in re.findall(r"\.\.([\d.]+\d)", minima)], rel=0, abs=1e-10
            )


def other_minima(cell: str, place: int) -> list[float]:
    """The least values of a row of 1.9, with the `place`-th factor of "x.99 / x.999"."""
    spans = re.findall(r"([\d.]+?)\.\.[\d.]+", cell)
    if spans:
        return [float(one) for one in spans]
    if ">=" in cell:
        return numbers(cell)
    factors = re.findall(r"/ x(\.\d+)", cell)
    if place and factors:
        reference = re.search(r"([\d.]+)x\.", cell)
        assert reference
        return [float(reference[1]) * float(factors[place - 1])]
    assert all(product == pytest.approx(computed, rel=0, abs=ROUNDED) for _, product, computed in products(cell))
    return [computed for *_, computed in products(cell)]


def test_every_benchmark_stands_in_a_table() -> None:
    listed = {name for number in ("1.3", "1.9") for row in rows(number) for name in names(row[0], KNOWN)}
    assert listed >= set(KNOWN) - {"e2e-rag-db"}


def test_loadgens_names() -> None:
    for cell, model, interactive, performance, accuracy, equal, tokens, queries in rows("1.10"):
        for name in names(cell.replace("99(.9)", "99 / -99.9"), KNOWN):
            for one, rules in every(name):
                wanted = name if model == "same" else model
                for scenario, limits in rules.scenarios.items():
                    own = interactive if scenario is INTERACTIVE and interactive != "-" else wanted
                    assert limits.loadgen_model == own, (one, name, scenario)
                assert rules.performance_sample_count == int(performance), (one, name)
                assert int(accuracy) in {0, rules.accuracy_sample_count}, (one, name)
                # The column is LoadGen's default, as of v6.1; before, the old checker's list is the rule (5.9, O16).
                unlisted = one == "v6.0" and name in {"gpt-oss-120b", "qwen3-vl-235b-a22b"}
                asked = equal == "1" and not unlisted
                assert rules.equal_issue == asked, (one, name)
                assert rules.token_latencies == (tokens == "1" and name != "whisper"), (one, name)
                if queries.isdigit():
                    assert rules.scenarios[OFFLINE].min_query_count == int(queries), (one, name)


@pytest.mark.parametrize("one", ROUNDS)
def test_the_layout(one: str) -> None:
    """Every file the round's templates name stands in the drawing of its layout."""
    drawn = tree_paths("2.1" if one.startswith("v5") else "2.2")
    layout = load_round(one).layout
    root = "<root>/<division>/<submitter>/"
    files = [
        *(layout.system, layout.source_dir, layout.user_conf, layout.readme),
        *(f"{layout.performance_dir}/{name}" for name in layout.required_performance_files),
        *(f"{layout.accuracy_dir}/{name}" for name in layout.required_accuracy_files if one.startswith("v5")),
    ]
    if one.startswith("v6"):
        files += [layout.measurements, layout.documentation_dir, layout.accuracy_dir]
    else:
        files += [layout.audit_dir.replace("{audit}", "TESTxx")]
    for template in files:
        path = re.sub(r"\{(\w+)\}", r"<\1>", template).replace("<division>/<submitter>/", root)
        assert any(entry == path or entry.startswith(path + "/") for entry in drawn), path


def test_the_fields_of_a_system_description() -> None:
    required, meaningful, network, power = (set[str]() for _ in range(4))
    for cell, exists, means, *_ in rows("3.1"):
        listed = {name.strip() for name in cell.removeprefix("power group:").split(",")}
        if exists == "x":
            required |= listed
            meaningful |= listed if means == "x" else set()
        elif "network" in exists:
            network |= listed
        elif cell.startswith("power group"):
            power |= listed
    assert len(required) == 35
    for one in ROUNDS:
        fields = load_round(one).system_fields
        assert set(fields.required) == required, one
        assert set(fields.meaningful) == meaningful, one
        assert set(fields.network) == network, one
        assert power <= set(fields.known), one


def test_the_fields_of_the_measurements() -> None:
    listed = set(re.findall(r"`(\w+)`", section("3.2").partition(".")[0]))
    for one in ROUNDS:
        assert set(load_round(one).measurements_fields) == listed
