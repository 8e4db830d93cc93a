"""From a number to what it counted: the images and answers of a cell, page by page."""
