"""Photos of dishes: upload in parts, decode, resize, strip metadata."""
