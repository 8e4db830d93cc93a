"""The stages of a worker: files are read and decoded ahead, units executed, results stored behind."""
