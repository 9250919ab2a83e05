"""How numbers, margins and values stand in a finding."""

import pytest

from compliance.checks.facts import amount, as_json, off_by


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1, "samples", "1 sample"),
        (1, "queries", "1 query"),
        (1.0, "tokens", "1 token"),
        (1, "ms", "1 ms"),
        (0, "samples", "0 samples"),
        (2, "bytes", "2 bytes"),
        (20000.000001, "ms", "20000.000001 ms"),
        (1e-06, "ms", "0.000001 ms"),
        (0.1 + 0.2, "", "0.3"),
        (1e12, "ns", "1000000000000 ns"),
        (1e300, "", "1e+300"),
        (float("nan"), "", "nan"),
        (float("inf"), "ms", "inf ms"),
        (2**70, "", "1180591620717411303424"),
    ],
)
def test_amounts(value, unit, text):
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("gap", "bound", "about", "text"),
    [
        (1, 13368, {"unit": "samples", "how": "short"}, "1 sample short (less than 0.01% of the limit)"),
        (300_000, 600_000, {"unit": "ms", "how": "short"}, "300000 ms short (50.00% of the limit)"),
        (20000.000001 - 20000, 20000, {"unit": "ms"}, "0.000001 ms over (less than 0.01% of the limit)"),
        (0.0, 2000, {"unit": "ms"}, "exactly the limit"),
        (0.5, 2.0, {"how": "short", "of": "minimum"}, "0.5 short (25.00% of the minimum)"),
        (3, 0, {}, "3 over (100.00% of the limit)"),
    ],
)
def test_margins(gap, bound, about, text):
    assert off_by(gap, bound, **about) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(False, "false"), (None, "null"), ("soon", '"soon"'), ("Zürich", '"Zürich"'), (["a", 1], '["a", 1]')],
)
def test_values_stand_as_in_their_document(value, text):
    assert as_json(value) == text
