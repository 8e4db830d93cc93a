"""Django's PostgreSQL backend with connections that a web process keeps between requests."""
