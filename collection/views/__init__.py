"""Public pages. Views are thin: doors say who asks, forms validate, `submissions` writes."""
