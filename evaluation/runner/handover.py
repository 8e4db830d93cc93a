"""Images that were just drawn, handed to the encoders of runs that wait for them, before any file is read back.

Their vectors travel with the results and are stored with the images' rows. The waiting run finds them stored, reads no
file and asks its model about texts alone. Where anything goes wrong here nothing is lost: it goes the long way.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.contracts.backend import Vectors
from evaluation.contracts.study import ImageResult, ImageVector, ModelData, Result
from evaluation.runner.transport import WorkUnit

Load = Callable[[ModelData], AbstractContextManager[Any]]


def encode_drawn(
    pairs: Sequence[tuple[WorkUnit, Result]], encoders: Sequence[ModelData], load: Load
) -> list[tuple[WorkUnit, Result]]:
    """The results with the vectors of their images by each of `encoders`, and without pixels, which nobody needs then.

    Only images that will be held are encoded; equal ones once.
    """
    images = {
        result.key: result.image
        for _, result in pairs
        if result.image is not None and result.image.content and result.state == "done"
    }
    encoded: dict[str, list[ImageVector]] = {}
    for model in encoders if images else ():
        with load(model) as backend:
            if hasattr(backend, "encode_images"):
                for key, vector in encode_images(images, backend).items():
                    if np.isfinite(vector).all():
                        made = ImageVector(model.id, backend.preprocessing, np.asarray(vector, dtype=np.float32))
                        encoded.setdefault(key, []).append(made)
    return [(unit, finish_result(result, encoded.get(result.key, ()))) for unit, result in pairs]


def encode_images(images: Mapping[str, ImageResult], backend: Any) -> dict[str, Any]:
    """Unit key → vector, from the pixels where all are there and the backend takes them, else from the files' bytes."""
    places = find_equal([image.content for image in images.values()])
    distinct = [image for number, image in enumerate(images.values()) if places[number] == number]
    pixels = [image.pixels for image in distinct if image.pixels is not None]
    vectors: Vectors
    if len(pixels) == len(distinct) and hasattr(backend, "encode_pixels"):
        vectors = backend.encode_pixels(pixels)
    else:
        vectors = backend.encode_images([image.content for image in distinct])
    of_place = dict(zip(sorted(set(places)), vectors, strict=True))
    return {key: of_place[place] for key, place in zip(images, places, strict=True)}


def find_equal(contents: Sequence[bytes]) -> list[int]:
    """The place of the first of its equals for each; only those that are alike in length and end are compared whole."""
    alike: dict[tuple[int, bytes], list[int]] = {}
    found = []
    for place, content in enumerate(contents):
        others = alike.setdefault((len(content), content[-64:]), [])
        found.append(next((other for other in others if contents[other] == content), place))
        if found[-1] == place:
            others.append(place)
    return found


def finish_result(result: Result, encoded: Sequence[ImageVector]) -> Result:
    if result.image is None or (result.image.pixels is None and not encoded):
        return result
    return replace(result, image=replace(result.image, pixels=None), encoded=tuple(encoded))
