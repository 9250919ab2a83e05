"""Compliance: reads and judges. Rules as data, log readers, checks, audits, tree layout; pure functions over files."""
