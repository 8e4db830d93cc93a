"""How staff come in: the log-in with its brake, the second factor, the idle limit, and typing that is not lost."""
