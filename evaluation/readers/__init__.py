"""Readers of raw answers and images: pure functions from text or bytes to a value or a reason."""
