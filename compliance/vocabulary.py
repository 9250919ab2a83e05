"""The field's words as enumerations: every other module spells scenarios, divisions and modes through these."""

from enum import StrEnum


class Scenario(StrEnum):
    """A scenario as its results folder is named. Interactive is LoadGen's Server under tighter latency limits."""

    OFFLINE = "Offline"
    SERVER = "Server"
    INTERACTIVE = "Interactive"
    SINGLE_STREAM = "SingleStream"
    MULTI_STREAM = "MultiStream"

    @property
    def loadgen_name(self) -> str:
        """The scenario string that LoadGen knows: Interactive runs as Server (loadgen/mlperf.conf)."""
        return "Server" if self is Scenario.INTERACTIVE else self.value

    @property
    def streams(self) -> bool:
        """Whether LoadGen wants the first token of each sample reported in this scenario."""
        return self is not Scenario.OFFLINE


class Division(StrEnum):
    """A division as its top-level folder is named."""

    CLOSED = "closed"
    OPEN = "open"
    NETWORK = "network"


class Suite(StrEnum):
    """The class of system a scenario list belongs to; a system of both classes has a list of its own."""

    DATACENTER = "datacenter"
    EDGE = "edge"
    BOTH = "datacenter,edge"


class Mode(StrEnum):
    """What one LoadGen test measures, spelled as `effective_test_mode` in the detail log."""

    PERFORMANCE = "PerformanceOnly"
    ACCURACY = "AccuracyOnly"


class AuditId(StrEnum):
    """A compliance test, named as its folder is."""

    TEST01 = "TEST01"
    TEST04 = "TEST04"
    TEST06 = "TEST06"
    TEST07 = "TEST07"
    TEST08 = "TEST08"
    TEST09 = "TEST09"


class Severity(StrEnum):
    """How much a finding weighs: only an error turns a result down."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Profile(StrEnum):
    """By whose measure a tree is judged: the official checker's verdict, or the rules as written."""

    OFFICIAL = "official"
    STRICT = "strict"
