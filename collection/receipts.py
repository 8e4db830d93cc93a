"""Receipt numbers: nine digits in three groups, the last one a check digit that notices a wrong or swapped digit."""

import secrets

DAMM = (
    "0317598642",
    "7092154863",
    "4206871359",
    "1750983426",
    "6123045978",
    "3674209581",
    "5869720134",
    "8945362017",
    "9438617205",
    "2581436790",
)


def check_digit(digits: str) -> str:
    """Damm's check digit of a row of digits."""
    state = 0
    for digit in digits:
        state = int(DAMM[state][int(digit)])
    return str(state)


def new_receipt() -> str:
    """A random receipt number; that it is free is held by the database."""
    digits = f"{secrets.randbelow(10**8):08d}"
    return digits + check_digit(digits)


def grouped(receipt: str) -> str:
    """123456789 → 123 456 789, as it is shown and read aloud."""
    return " ".join(receipt[start : start + 3] for start in range(0, len(receipt), 3))


def read_receipt(text: str) -> str | None:
    """The receipt number in what somebody typed, in digits of any script; None where the check digit says no."""
    digits = "".join(str(int(sign)) for sign in text if sign.isdecimal())
    return digits if len(digits) == 9 and check_digit(digits) == "0" else None
