"""Readers of LoadGen's and the accuracy scripts' files: each parsed once into typed records."""
