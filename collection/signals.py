"""What the collection announces; the other apps receive. Imports go one way, so it never calls them by name.

All three are sent inside the transaction of the change, with `dishes`: a list of ids. `dish_erased` also brings
`removals`, a list: a receiver appends functions that remove files, which are called after the transaction.
"""

from django.dispatch import Signal

dish_withdrawn = Signal()
dish_restored = Signal()
dish_erased = Signal()
