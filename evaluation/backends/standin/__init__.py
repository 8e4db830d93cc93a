"""Stand-ins for every role: deterministic, without weights, marked as a demonstration in all that they give."""
