"""Bringing published data in through the same models as our own. docs/researcher.md says what comes from which file."""
