"""What a study, a backend, a table and a model's parameters are. Protocols and plain data, no database."""
