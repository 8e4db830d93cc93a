"""The overview of what there is: counts of dishes, people and countries, and what waits to be done."""
