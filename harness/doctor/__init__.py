"""What stands between this machine and a campaign, each with its fix."""
