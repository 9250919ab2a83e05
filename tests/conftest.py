"""What holds for every test."""

import signal

from hypothesis import HealthCheck, settings

# Started in the background of a shell, a process ignores SIGINT and so would every process a test starts; tests of
# Ctrl-C need the handler of a process in the foreground.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that stalls for a while is no fault of what is tested: no time limits in tests.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
