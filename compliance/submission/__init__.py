"""Placing and rendering a submission tree."""
