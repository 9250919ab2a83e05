"""What is left of a power measurement once its logs are let go still gives the same metric."""

from dataclasses import replace

from compliance.discovery.submission import discover
from compliance.logs.detail_keys import REPORTED_KEYS
from compliance.metrics.power import power_metric
from tests.support import power_faults as faults
from tests.support.power_trees import power_tree


def slim(result):
    performance = replace(result.performance, detail=result.performance.detail.only(REPORTED_KEYS))
    return replace(result, performance=performance, power=result.power.without_logs())


def test_the_metric_outlives_the_logs(tmp_path):
    for name, tree in (("watts", power_tree()), ("energy", faults.edge())):
        (submitter,) = discover(tree.write(tmp_path / name), tree.round).submitters
        (result,) = [one for one in submitter.systems[0].results if one.power]
        assert power_metric(slim(result), None) == power_metric(result, None)
        assert power_metric(result, None).value


def test_a_result_without_power_has_no_power_metric(tmp_path):
    tree = power_tree()
    (submitter,) = discover(tree.write(tmp_path), tree.round).submitters
    (result,) = [one for one in submitter.systems[0].results if one.power is None]
    assert power_metric(result, None) is None
