"""Harness: runs LoadGen, its workers, the evaluations and the campaign; holds the command line."""
