"""A judged tree as text and JSON."""
