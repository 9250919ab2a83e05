"""TEST07: accuracy holds in performance mode where the two data sets differ (compliance/TEST07)."""

from dataclasses import dataclass

from compliance.audits.stated import Stated, stated
from compliance.logs.verdicts import VerifyText


@dataclass(frozen=True, slots=True)
class Test07Text:
    """What verify_accuracy.txt says it measured and against what, each with its line; None where it does not say."""

    score: Stated | None
    threshold: Stated | None


def read_text(text: VerifyText) -> Test07Text:
    """The score and the threshold in what the verification printed."""
    return Test07Text(stated(text, "Accuracy score"), stated(text, "Accuracy threshold"))
