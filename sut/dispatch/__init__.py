"""Which worker gets the next sample: pure functions on counters."""
