"""The audits: which runs they plan and how their logs are verified."""
