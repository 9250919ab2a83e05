"""Settings of the SUT side's tests."""

from hypothesis import settings

# A machine that is busy is no failure: examples have no time limit of their own, the test as a whole has one.
settings.register_profile("weighbridge", deadline=None, max_examples=60)
settings.load_profile("weighbridge")
