"""What the runner asks of PostgreSQL in one wide statement, where other databases are asked many small ones."""
