"""What the collection announces; the other apps receive. Imports go one way, so it never calls them by name.

All are sent inside the transaction of the change, with `dishes`: a list of ids. `dish_erased` also brings `removals`,
a list: a receiver appends functions that remove files, which are called after the transaction. `dishes_changed` is
sent when dishes that are public, or were, are decided about, corrected or imported.
"""

from django.dispatch import Signal

dishes_changed = Signal()
dish_withdrawn = Signal()
dish_restored = Signal()
dish_erased = Signal()
