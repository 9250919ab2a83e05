"""Data: the jinja2 templates of a submission tree and the JSON Schemas of its documents."""
