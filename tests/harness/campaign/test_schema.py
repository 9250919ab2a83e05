import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from harness.campaign.schema import campaign_schema, schema_path

GOOD = sorted((Path(__file__).parents[2] / "data" / "campaigns" / "good").glob("*.yaml"))


def test_the_shipped_schema_is_current():
    assert schema_path().read_text() == campaign_schema(), "run `python -m harness.campaign.schema`"


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_campaigns_satisfy_it(path):
    schema = json.loads(campaign_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(path.read_text()), schema, cls=jsonschema.Draft202012Validator)


def test_an_unknown_key_does_not():
    document = yaml.safe_load(GOOD[0].read_text()) | {"worker": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(campaign_schema()), cls=jsonschema.Draft202012Validator)
