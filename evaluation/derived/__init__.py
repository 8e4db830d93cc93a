"""Tables derived from other tables' observations: disparity, comparison, variance."""
