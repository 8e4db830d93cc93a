"""What units cost, from the price of a model. Pure arithmetic; prices are data, with currency and date.

    {"currency": "USD", "date": "2024-07-01", "per_unit": 0.04}
    {"currency": "USD", "date": "2024-07-01", "per_million_input": 2.5, "per_million_output": 10,
     "expected_input": 1200, "expected_output": 40}

`per_unit` is owed for what was delivered (images, also those held back afterwards); tokens are owed for every
answer, by the counts in its circumstances `input_tokens` and `output_tokens`. `expected_…` serve forecasts only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.suggestions import describe_unknown_name

AMOUNTS = ("per_unit", "per_million_input", "per_million_output", "expected_input", "expected_output")
MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Amounts in `currency`; everything 0 where a unit costs nothing that the price knows of."""

    currency: str
    per_unit: float = 0
    per_million_input: float = 0
    per_million_output: float = 0
    expected_input: float = 0
    expected_output: float = 0

    @property
    def counts_tokens(self) -> bool:
        return bool(self.per_million_input or self.per_million_output)

    def spent(self, delivered: int, input_tokens: float = 0, output_tokens: float = 0) -> float:
        """What so many delivered units with so many tokens in all cost."""
        tokens = input_tokens * self.per_million_input + output_tokens * self.per_million_output
        return delivered * self.per_unit + tokens / MILLION

    def expected(self, units: int) -> float:
        """What so many units will cost if each is delivered and as long as expected."""
        return self.spent(units, units * self.expected_input, units * self.expected_output)


def list_price_problems(given: Any) -> list[str]:
    """A sentence for each field of a price that cannot be used or that nothing reads; empty for no price."""
    if not isinstance(given, Mapping):
        return ['A price is an object with fields, such as {"currency": "USD", "per_unit": 0.04}.']
    known = ("currency", "date", *AMOUNTS)
    found = [describe_unknown_name("field of a price named", str(name), known) for name in given if name not in known]
    try:
        price_of(given)
    except ValueError as error:
        found.append(str(error))
    return found


def price_of(given: Mapping[str, Any]) -> Price | None:
    """The price as stored with a model; None where there is none. Raises ValueError that names the field."""
    if not given:
        return None
    amounts = {name: given[name] for name in AMOUNTS if name in given}
    for name, amount in amounts.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < float("inf"):
            raise ValueError(f"price: {name} is {amount!r}. Accepted: a number of at least 0.")
    if not isinstance(given.get("currency"), str) or not given["currency"]:
        raise ValueError("price: currency is missing.")
    return Price(given["currency"], **amounts)
