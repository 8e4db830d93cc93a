"""The reviews behind a cell of a table of reviews, and people's opinions of an image."""
