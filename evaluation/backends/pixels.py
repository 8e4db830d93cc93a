"""The image itself, small: for studies that measure pixels and ask no model."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from evaluation.contracts.study import ModelData
from evaluation.readers.image_decode import decode_image

EDGE = 256


class Pixels:
    """Gives images as (h, w, 3) uint8, the longest side at most 256."""

    def __init__(self, model: ModelData) -> None:
        self.edge = int(model.parameters.get("edge", EDGE))

    def pixels(self, contents: Sequence[bytes]) -> Iterator[npt.NDArray[np.uint8]]:
        """Raises ImageError for what is no image and for one that is too large."""
        for content in contents:
            small = decode_image(content)
            small.thumbnail((self.edge, self.edge), Image.Resampling.BOX)
            yield np.asarray(small)
