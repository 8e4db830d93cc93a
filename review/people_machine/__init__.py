"""People and machine: where a machine's values of a picture say what its community says, and how sure that is."""
