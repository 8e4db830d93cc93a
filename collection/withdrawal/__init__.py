"""Withdrawal, erasure, retention, and what a person may take along."""
