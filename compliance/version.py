"""The version of this installation, where it takes no time to read; the build takes it from here."""

VERSION = "0.1.0"
