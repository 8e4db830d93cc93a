"""Community review: campaigns, questionnaires, assignment of images, answers and their tables.

May import `collection` and `evaluation`; only `wwd` imports it.
"""
