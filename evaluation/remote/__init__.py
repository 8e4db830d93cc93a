"""Workers that reach no database: over HTTPS with a token, or from a file. See docs/operations/clusters.md."""
