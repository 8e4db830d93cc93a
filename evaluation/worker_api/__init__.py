"""The server's side of workers over HTTPS: what a token may ask for, each call harmless when it comes twice."""
