"""What a campaign comes to: each run's LoadGen settings, its length and its text."""
