"""What the collection announces; the other apps receive. Imports go one way, so it never calls them by name.

All three are sent inside the transaction of the change, with `dishes`: a list of ids (`dish_erased`: of one id).
A receiver of `dish_erased` may return a function, which is called after the transaction: it removes files.
"""

from django.dispatch import Signal

dish_withdrawn = Signal()
dish_restored = Signal()
dish_erased = Signal()
