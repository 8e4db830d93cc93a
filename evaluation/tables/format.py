"""Numbers of tables as text."""

MINUS = "−"


def format_number(value: float, digits: int) -> str:
    """`value` rounded for reading, a count as it is, with a true minus sign and none before a zero."""
    text = str(value) if isinstance(value, int) else f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)
