"""LoadGen's early stopping recomputed: how many queries a percentile needs for so many over the limit.

A run passes when, were the share of queries over the limit just what the percentile allows, so few of them would have
been seen with less than 1 % probability (inference_rules.adoc:1065; loadgen/early_stopping.cc).
"""

import math

_DOUBT = 0.01
"""One less the confidence that early stopping asks for; its tolerance is 0."""
_EXACT_QUERIES = 10**8
_NORMAL_QUANTILE = 2.3263478740408408
"""Where a normal distribution leaves 1 % below: binomials of more than `_EXACT_QUERIES` are that normal."""
_NEGLIGIBLE = 1e-17


def enough_queries(queries: int, over: int, percentile: float) -> bool:
    """Whether early stopping passes with `over` of `queries` queries over the limit at `percentile` (0..1)."""
    share = 1 - percentile
    if over >= queries * share:
        return False
    if queries > _EXACT_QUERIES:
        deviation = math.sqrt(queries * share * percentile)
        return over < queries * share - _NORMAL_QUANTILE * deviation
    return _as_few(queries, over, percentile) < _DOUBT


def fewest_queries(over: int, percentile: float) -> int:
    """The fewest queries with which `over` of them may be over the limit: at 0.99 459 for none, 662 for one."""
    least = over + 1
    most = least * 2
    while not enough_queries(most, over, percentile):
        least, most = most, most * 2
    while least < most:
        middle = (least + most) // 2
        if enough_queries(middle, over, percentile):
            most = middle
        else:
            least = middle + 1
    return most


def discarded_queries(queries: int, percentile: float) -> int | None:
    """How many of the slowest queries the estimate of a percentile leaves out; None where there are too few queries.

    LoadGen takes the slowest but so many as the estimate in SingleStream and MultiStream (loadgen/results.cc:162-190).
    """
    if not enough_queries(queries, 1, percentile):
        return None
    share = 1 - percentile
    guess = int(queries * share - _NORMAL_QUANTILE * math.sqrt(queries * share * percentile))
    least, most, step = max(1, guess), max(2, guess + 1), 1
    while not enough_queries(queries, least, percentile):
        least, most, step = max(1, least - step), least, step * 2
    while enough_queries(queries, most, percentile):
        least, most, step = most, most + step, step * 2
    while most - least > 1:
        middle = (least + most) // 2
        if enough_queries(queries, middle, percentile):
            least = middle
        else:
            most = middle
    return least - 1


def _as_few(queries: int, over: int, percentile: float) -> float:
    """The probability of `over` or fewer queries over the limit, below their mean; summed from the greatest term."""
    share = 1 - percentile
    log_ways = math.lgamma(queries + 1) - math.lgamma(over + 1) - math.lgamma(queries - over + 1)
    term = math.exp(log_ways + over * math.log(share) + (queries - over) * math.log(percentile))
    total, at = term, over
    while at > 0 and term > total * _NEGLIGIBLE:
        term *= at * percentile / ((queries - at + 1) * share)
        total += term
        at -= 1
    return total
