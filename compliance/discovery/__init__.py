"""Finds what a submission tree holds: its files, submitters, systems and results, and the round it is of."""
