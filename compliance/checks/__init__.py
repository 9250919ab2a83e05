"""The checks: pure functions with an id."""
