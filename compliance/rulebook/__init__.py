"""The rules of a round, from the files under `compliance/rules/` into frozen records."""
