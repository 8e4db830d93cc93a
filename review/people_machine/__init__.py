"""People and machine: where a machine's values of an image say what its community says, and how sure that is."""
