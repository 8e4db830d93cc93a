"""Dishes: submit, change, report, curate and list them. Plain functions; views and the admin call them."""
