"""The campaign file's JSON Schema, for editors. `python -m harness.campaign.schema` writes the shipped copy anew."""

import json
from pathlib import Path

import submission_templates
from harness.campaign.model import Campaign

FILE_NAME = "campaign.schema.json"


def schema_path() -> Path:
    """Where the shipped copy lies."""
    return Path(next(iter(submission_templates.__path__))) / "schemas" / FILE_NAME


def campaign_schema() -> str:
    """The schema (draft 2020-12) as JSON text, from the same records that read the file."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weighbridge campaign",
        **{key: value for key, value in Campaign.model_json_schema(mode="validation").items() if key != "title"},
    }
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    from harness.storage import write_atomic

    schema_path().parent.mkdir(parents=True, exist_ok=True)
    write_atomic(schema_path(), campaign_schema())
