"""What holds for every test."""

import signal

# Started in the background of a shell, a process ignores SIGINT and so would every process a test starts; tests of
# Ctrl-C need the handler of a process in the foreground.
signal.signal(signal.SIGINT, signal.default_int_handler)
