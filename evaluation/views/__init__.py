"""Pages of researchers. Views are thin: they ask `presentation` and render."""
