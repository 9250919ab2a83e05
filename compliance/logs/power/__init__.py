"""Readers of what the power workflow leaves beside LoadGen's logs (mlcommons/power; power_checker.py)."""
