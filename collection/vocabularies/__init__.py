"""Names that people type: places, languages, ingredients, each read in any spelling and script."""
