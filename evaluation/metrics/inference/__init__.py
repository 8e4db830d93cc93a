"""Intervals and tests for clustered observations, each with its source and its measured coverage."""
