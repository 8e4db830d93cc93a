"""Receipt numbers: nine digits in three groups, the last one a check digit that notices a wrong or swapped digit.

A phone without a network makes one by the same rule (`static/queue.js`).
"""

import secrets

from collection.check_digits import check_digit

LENGTH = 9
# Letters that people write for a nought or a one, in the scripts where they look the same.
CONFUSABLE_DIGITS = str.maketrans({**dict.fromkeys("OoОоΟο", "0"), **dict.fromkeys("IiLl|ІіΙι", "1")})


def new_receipt() -> str:
    """A random receipt number; that it is free is held by the database."""
    digits = f"{secrets.randbelow(10**8):08d}"
    return digits + check_digit(digits)


def format_receipt(receipt: str) -> str:
    """123456789 → 123 456 789, as it is shown and read aloud."""
    return " ".join(receipt[start : start + 3] for start in range(0, len(receipt), 3))


def read_receipt(text: str) -> str | None:
    """The receipt number in what somebody typed; None where the check digit says no."""
    return read_digits(text, LENGTH)


def read_digits(text: str, *lengths: int) -> str | None:
    """A number of one of these lengths in what somebody typed or pasted: digits of any script, whatever stands between
    them, letters that look like digits read as these. None where there is none or the check digit says no.
    """
    # As it stands first: a pasted message has words around the number.
    for typed in (text, text.translate(CONFUSABLE_DIGITS)):
        digits = "".join(str(int(sign)) for sign in typed if sign.isdecimal())
        if len(digits) in lengths and check_digit(digits) == "0":
            return digits
    return None
