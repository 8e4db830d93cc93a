"""What the evaluation announces about pictures whose dish was withdrawn. Sent inside the transaction.

`pictures_erased(images=[ids], removals=[])`: a receiver appends functions that remove files after the transaction.
`pictures_renamed(images=[ids], name=text)`: they now belong to another contributor's dish of this name.
"""

from django.dispatch import Signal

pictures_erased = Signal()
pictures_renamed = Signal()
