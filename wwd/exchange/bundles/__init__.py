"""Bundles and reports: what somebody needs to check and cite chosen tables, as one archive or one document.

This package is above the apps because a bundle holds rows of `evaluation` and `review` alike.
"""
