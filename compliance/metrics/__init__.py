"""What a result reports: the figure of its scenario, and its power."""
