"""The embedded default: a small model, shipped datasets and the campaigns over them."""
