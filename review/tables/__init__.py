"""Tables of reviews: which answers count, shares, agreement, skips, words."""
