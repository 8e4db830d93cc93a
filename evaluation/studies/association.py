"""Association (World Wide recipe §3.2.3, App. G): which descriptor words do pictures of a place lie near?

Units of a run of study `association`, one `Result` with a `VectorResult` each:

| unit | key | subject | payload | affinity | vector |
|---|---|---|---|---|---|
| a picture | `image_key(id)` | the picture's | `image_payload(id)` | the key | `VectorResult(image_id=id)` |
| a descriptor text | `text_key(payload)` | none | `text_payload(…)` | `"texts"` | `VectorResult(text=text)` |

The payload of a text is `{"text": "A photo of clean food.", "descriptor": "clean", "group": "presentation",
"sign": "positive"}`. `sign` is `positive`, `negative`, or `none` for words that are only ranked (the 16 of
`comparison_results.csv`, group `comparison`); `association.scores` leaves groups without both signs out.
Runs whose vectors were made elsewhere are imported with exactly these keys and payloads.
"""

from collections.abc import Mapping
from typing import Any, Literal

Sign = Literal["positive", "negative", "none"]


def image_payload(image: int) -> dict[str, Any]:
    """Payload of the unit that encodes the `GeneratedImage` with this id."""
    return {"image": image}


def image_key(image: int) -> str:
    return f"image:{image}"


def text_payload(text: str, descriptor: str, group: str, sign: Sign) -> dict[str, Any]:
    """Payload of the unit that encodes one descriptor `text`, the filled-in prompt."""
    return {"text": text, "descriptor": descriptor, "group": group, "sign": sign}


def text_key(payload: Mapping[str, Any]) -> str:
    """Key of a descriptor's unit: a word may stand in several groups, so group and sign belong to it."""
    return f"text:{payload['group']}:{payload['sign']}:{payload['descriptor']}"
