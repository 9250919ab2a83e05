"""Runs carried out: one step, its record and verdict, and the campaign's order."""
