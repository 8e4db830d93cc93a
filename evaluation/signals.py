"""What the evaluation announces about images whose dish was withdrawn. Sent inside the transaction.

`images_erased(images=[ids], removals=[])`: a receiver appends functions that remove files after the transaction.
`images_renamed(images=[ids], name=text)`: they now belong to another contributor's dish of this name.
"""

from django.dispatch import Signal

images_erased = Signal()
images_renamed = Signal()
