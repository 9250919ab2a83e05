"""What a campaign measured, as one self-contained HTML page with JSON and text beside it."""

from harness.report.write import write_report

__all__ = ["write_report"]
