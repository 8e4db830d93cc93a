"""Consent: its texts and versions, what a person agreed to, and when the collection may open."""
