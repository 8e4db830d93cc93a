"""Demonstration data: dishes written for this project from general knowledge, placeholder images, made-up reviews.

Every row is marked as a demonstration and all of it goes with `manage.py demo clear`.
"""
