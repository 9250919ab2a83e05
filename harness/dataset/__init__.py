"""Datasets of the user's own: rows with token ids or text become a dataset folder."""
