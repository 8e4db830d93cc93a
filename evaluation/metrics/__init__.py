"""Metrics: pure functions on arrays; value, n and interval out. No database, no files, no Django."""
