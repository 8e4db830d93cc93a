"""Collection: contributors, their consent, dishes and photos, and their public pages.

May import `wwd.base` alone. Nothing here knows what is done with a dish afterwards.
"""
