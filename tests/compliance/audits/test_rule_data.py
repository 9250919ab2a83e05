"""What the rounds say about TEST07 and TEST09, as the audits' own audit.config files have it."""

import pytest

from compliance.rulebook.rounds import load_round, round_names
from compliance.vocabulary import AuditId

BENCHMARKS = [rules for name in round_names() for rules in load_round(name).benchmarks.values()]
NUMBERS = {
    "gpt-oss-120b": ({AuditId.TEST07: 990, AuditId.TEST09: 6396}, 60.698, (1150.38, 1406.02)),
    "e2e-rag-qna": ({AuditId.TEST09: 824}, None, (246.43, 301.19)),
}


@pytest.mark.parametrize("rules", BENCHMARKS, ids=lambda rules: rules.name)
def test_the_numbers_of_the_audits(rules):
    found = (dict(rules.logged_answers), rules.test07_score, rules.test09_mean_tokens)
    assert found == NUMBERS.get(rules.name, ({}, None, None))
    assert set(rules.logged_answers) == set(rules.audits) & {AuditId.TEST07, AuditId.TEST09}
