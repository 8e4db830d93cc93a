"""Check digits by the Damm algorithm."""

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
