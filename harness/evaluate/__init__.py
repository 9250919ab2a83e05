"""From accuracy log to scores to accuracy.txt."""
