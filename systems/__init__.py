"""Data: system descriptions in MLPerf's form, how to start each, and the accelerators' published figures."""
