"""The web server: gunicorn's worker, requests while they arrive, and the log of requests."""
