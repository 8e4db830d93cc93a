"""Preregistration: plans frozen before the data, masks over names, what was planned and what was not."""
