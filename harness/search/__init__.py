"""The highest rate that LoadGen itself calls VALID: which rate to try next, and the probes that were made."""
