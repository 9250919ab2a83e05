"""The campaign file: read, checked, planned and carried out."""
