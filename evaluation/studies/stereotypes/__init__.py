"""The stereotypes study: visual questions about generated images, by country and continent."""
