"""The rule data against the reference's constants and prose: what stands in no table of one row per benchmark."""

import re
from fnmatch import fnmatchcase

import pytest

from compliance.checks.limits import PERCENTILES
from compliance.metrics.performance import BASE_KEYS
from compliance.rulebook.rounds import load_round
from compliance.rulebook.system_schema import SYSTEM_TYPES
from compliance.vocabulary import Division, Scenario, Suite
from tests.support.rule_tables import NO_REFERENCE, REFERENCE, in_rounds, names, numbers, plain, rows, section

pytestmark = pytest.mark.skipif(not REFERENCE.is_file(), reason=NO_REFERENCE)

ROUNDS = ("v5.0", "v5.1", "v6.0", "v6.1")
OFFLINE, SERVER, INTERACTIVE = Scenario.OFFLINE, Scenario.SERVER, Scenario.INTERACTIVE
SINGLE, MULTI = Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM
KNOWN = tuple(sorted({name for one in ROUNDS for name in load_round(one).benchmarks}))
SHORT = {
    "8b": "llama3.1-8b",
    "405b": "llama3.1-405b",
    "deepseek": "deepseek-r1",
    "gpt-oss": "gpt-oss-120b",
    "mixtral": "mixtral-8x7b",
    "llama2": "llama2-70b-*",
    "llama2*": "llama2-70b-*",
}
"""Names as the prose shortens them."""


def every():
    return [(one, rules) for one in ROUNDS for rules in load_round(one).benchmarks.values()]


def constants():
    return {row[0].partition(" (")[0]: row[1] for row in rows("1.1")}


def words(cell):
    return tuple(part.strip() for part in re.split(r"[,;]", plain(cell)))


@pytest.mark.parametrize("one", ROUNDS)
def test_the_constants_of_a_round(one):
    table, round_ = constants(), load_round(one)
    assert one in words(table["rounds accepted by `--version`"])
    assert round_.min_duration_ms == numbers(table["minimum duration"])[0]
    assert round_.accuracy_log_limit_bytes == numbers(table["truncated accuracy log limit"])[0]
    assert round_.large_file_limit_bytes == numbers(table["large file limit"])[0] * (1 << 20)
    (availability,) = (cell for name, cell in table.items() if name.startswith("availability values"))
    assert round_.availability == words(availability)


def test_the_constants_of_every_round():
    table = constants()
    assert set(words(table["divisions"])) == {division.value for division in Division}
    assert set(words(table["scenarios"])) == {scenario.value for scenario in Scenario}
    assert tuple(part.strip() for part in plain(table["system types"]).split(";")) == SYSTEM_TYPES
    assert set(words(table["early stopping scenarios"])) == {scenario.value for scenario in PERCENTILES}
    assert table["ignored LoadGen error strings"].startswith("none")
    assert len(table) == 11


def keys_in(text):
    """Scenario and key of each "Offline `result_samples_per_second`"."""
    return {Scenario(scenario): key for scenario, key in re.findall(r"(\w+) `([\w.]+)`", text)}


def with_token_rates():
    """The benchmarks by round whose metrics are tokens per second: "(v5.0 llama2*, ...; v5.1+ also 8b, ...)"."""
    clauses = re.search(r"Overrides for the LLM rows \((.*?)\):", section("1.8"))
    assert clauses
    found, sofar = {one: set() for one in ROUNDS}, set()
    for clause in clauses[1].split(";"):
        first, _, listed = clause.strip().partition(" ")
        patterns = {SHORT.get(name.strip(), name.strip()) for name in listed.removeprefix("also ").split(",")}
        sofar |= patterns
        for one in in_rounds(first, ROUNDS) if first != "v5.0" else ROUNDS:
            found[one] |= sofar
    return found


def test_the_reported_metrics():
    text = section("1.8").replace("\n", " ")
    base = keys_in(text.partition("Overrides")[0])
    assert base == {scenario: key for scenario, key in BASE_KEYS.items() if scenario is not INTERACTIVE}
    overrides = keys_in(text.partition("):")[2].partition(";")[0])
    inferred = set(re.search(r"gptj: the `(\w+)` variants", text).groups())
    single = re.search(r"llama3.1-8b-edge SingleStream `([\w.]+)`", text)[1]
    tokens = with_token_rates()
    for one, rules in every():
        rated = any(fnmatchcase(rules.name, pattern) for pattern in tokens[one]) or rules.name == "llama3.1-8b-edge"
        for scenario, limits in rules.scenarios.items():
            wanted = (overrides if rated else base).get(
                SERVER if scenario is INTERACTIVE else scenario, base.get(scenario)
            )
            if rules.name.startswith("gptj") and scenario in overrides:
                assert limits.metric_key.removeprefix("result_").startswith(tuple(inferred)), (one, rules.name)
            elif (rules.name, scenario) == ("llama3.1-8b-edge", SINGLE):
                assert limits.metric_key == single
            else:
                assert limits.metric_key == wanted, (one, rules.name, scenario)


def test_the_divisors_of_latencies():
    text = section("1.8")
    milli, second = (int(float(found)) for found in re.findall(r"divided by (1e6).*?further (1000)", text)[0])
    for _, rules in every():
        for scenario, limits in rules.scenarios.items():
            wan = milli * second if rules.name.startswith("wan") else milli
            assert limits.metric_divisor == (wan if scenario in {SINGLE, MULTI} else 1)


def test_the_aliases_of_folders():
    text = re.search(r"Checker dir aliases: (.*?); anything", section("1.10"), re.DOTALL)[1].replace("\n", " ")
    wanted = {one: set() for one in ROUNDS}
    for clause in re.split(r"(?<=\)),\s*", text):
        plain_text, _, aside = clause.partition(" (")
        listed = [part.partition("->") for part in plain_text.split(",")]
        for one in ROUNDS if aside in {"", "all rounds)"} else in_rounds(aside.rstrip(")"), ROUNDS):
            for aliases, _, name in listed:
                for alias in re.split(r"/| and ", aliases):
                    target = name.strip() or alias.strip().replace("3_1", "3.1")
                    wanted[one].add((alias.strip(), target))
    for one in ROUNDS:
        benchmarks = load_round(one).benchmarks
        own = {(alias, rules.name) for rules in benchmarks.values() for alias in rules.aliases}
        assert own == {(alias, name) for alias, name in wanted[one] if name in benchmarks}, one


def test_a_system_of_both_suites():
    """ "datacenter,edge": as datacenter for language models; the exceptions are named."""
    text = section("1.3").partition('System type "datacenter,edge"')[2]
    assert "v5.1 deepseek-r1 also needs SingleStream" in text
    assert "v6.x qwen3-vl needs only" in text
    for one, rules in every():
        both, datacenter = rules.suites.get(Suite.BOTH), rules.suites.get(Suite.DATACENTER)
        if rules.name.startswith(("e2e-rag", "wan")):
            assert both is None, (one, rules.name)
        elif rules.token_latencies and datacenter is not None and both is not None:
            more = {SINGLE} if (one, rules.name) == ("v5.1", "deepseek-r1") else set()
            assert set(both.required) == {*datacenter.required, *more}, (one, rules.name)
            assert both.one_of == datacenter.one_of
        elif rules.name.startswith("qwen3-vl"):
            assert (set(both.required), [set(group) for group in both.one_of]) == ({OFFLINE}, [{SERVER, INTERACTIVE}])


def generation_cells():
    (cell,) = [row[1] for row in rows("8.") if row[0] == "generation settings"]
    return cell


def test_the_generation_settings():
    """ "8b min1/max128; llama2 max 1024; ..."; greedy or sampled."""
    cell = generation_cells()
    seen = set()
    for clause in cell.partition("; greedy")[0].split(";"):
        short, _, rest = clause.strip().partition(" ")
        for name in [one for one in KNOWN if fnmatchcase(one, SHORT[short])]:
            seen.add(name)
            for one in ROUNDS:
                rules = load_round(one).benchmarks.get(name)
                if rules is None:
                    continue
                least, most = re.search(r"min ?(\d+)", rest), re.search(r"max ?(\d+)", rest)
                assert least is None or rules.generation.min_new_tokens == int(least[1]), (one, name)
                assert rules.generation.max_new_tokens == int(most[1]), (one, name)
    assert seen >= {rules.name for _, rules in every() if rules.token_latencies} - {"llama3.1-8b-edge"}
    for _, rules in every():
        if rules.generates_text:
            sampled = rules.name == "gpt-oss-120b"
            assert rules.generation.temperature == (1 if sampled else 0)


def test_speculative_decoding():
    """ "only deepseek-r1 and gpt-oss Interactive and qwen3.6": qwen3.6 answers no text tokens here."""
    (cell,) = [row[1] for row in rows("8.") if row[0] == "speculative decoding"]
    assert cell.startswith("only deepseek-r1 and gpt-oss Interactive and qwen3.6")
    for one, rules in every():
        allowed = rules.name in {"deepseek-r1", "gpt-oss-120b"} and INTERACTIVE in rules.scenarios
        assert rules.generation.speculative == ((INTERACTIVE,) if allowed else ()), (one, rules.name)


@pytest.mark.parametrize("row", rows("1.11") if REFERENCE.is_file() else [], ids=lambda row: row[0])
def test_where_the_sources_disagree(row):
    """What the data hold is what the official checker has, or LoadGen's reference where the checker has nothing."""
    topic, _, reference, checker = row
    of = {rules.name: rules for _, rules in every()}
    chosen = {
        "gpt-oss Interactive TPOT": lambda: of["gpt-oss-120b"].scenarios[INTERACTIVE].max_tpot_p99_ms,
        "deepseek-r1 exact match ref": lambda: of["deepseek-r1"].accuracy[0].reference,
        "dlrm-v3 Server latency / dataset": lambda: of["dlrm-v3"].scenarios[SERVER].max_latency_p99_ms,
        "3d-unet": lambda: of["3d-unet-99"].dataset_size,
    }
    if topic == "gpt-oss perf max new tokens":
        assert of["gpt-oss-120b"].generation.performance_max_new_tokens == numbers(reference)[0]
    elif topic == "llama3.1-8b ROUGE refs":
        wanted = [float(text) for text in reference.split("/")]
        assert [one.reference for one in of["llama3.1-8b"].accuracy[:4]] == wanted
    elif topic == "required tests for gpt-oss, dlrm-v3":
        both = [{audit.value for audit in of[name].audits} for name in ("gpt-oss-120b", "dlrm-v3")]
        assert both == [{"TEST07", "TEST09"}, {"TEST08"}]
    elif topic == "qwen3.6-27b":
        assert of["qwen3.6-27b"].accuracy[0].minimum == pytest.approx(numbers(checker.partition("(")[2])[0])
    elif topic in chosen:
        assert chosen[topic]() == numbers(plain(checker))[0]
    else:
        assert topic in {
            "deepseek-r1 scenarios",  # compared in the table of scenarios
            "llama3.1-405b max new tokens",  # the rules' limit, as the checker has none
            "Server headline metric",  # compared with the reported metrics
            "calibration file",  # STR-009
            "e2e-rag-qna TEST09 bounds",  # AUD-103
        }


def test_names_of_the_tables_are_known():
    assert {name for row in rows("1.5") for name in names(row[0], KNOWN)} <= set(KNOWN)
