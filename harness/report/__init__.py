"""The HTML page, its plots and the text beside it."""
