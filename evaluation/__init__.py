"""Evaluation: models, studies, runs and tables of numbers, with their pages for researchers.

Imports go one way between the packages in here: the order is LAYERS in tests/import_graph.py.
"""
