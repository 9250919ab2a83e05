"""One LoadGen test in a process of its own."""
