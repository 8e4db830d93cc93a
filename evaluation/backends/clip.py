"""Image–text encoders of the CLIP, SigLIP and SigLIP 2 families, by identifier and revision; see `texts.py`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from evaluation.backends import weight_files, weights
from evaluation.backends.image_decode import Pixels, Stack, decode_ahead, decode_stacks
from evaluation.backends.image_resize import Preparation, parse_preparation_config
from evaluation.backends.text_preparation import family_config, texts_of
from evaluation.contracts import parameters
from evaluation.contracts.backend import Vectors
from evaluation.contracts.study import ModelData


class ClipEncoder:
    """Vectors of images and texts, (n, d) float32, not normalised.

    Model parameters: `precision` (fp32, bf16, fp16) and `at_once` (images per forward pass).
    """

    def __init__(self, model: ModelData) -> None:
        from transformers import AutoModel

        given = parameters.resolve_parameter_values(model)
        self.precision, self.at_once = given["precision"], given["at_once"]
        self.texts = texts_of(model)
        self.preparation = preparation_of(model)
        self.network = weights.load_pretrained_model(model, AutoModel, self.precision)
        self.family = self.texts.family.title
        self.device = weights.select_device()

    @staticmethod
    def inspect(model: ModelData) -> list[str]:
        """See `evaluation.backends.inspect_model`."""
        family_config(model)
        weight_files.require_complete_weights(model, weight_files.missing_of_model(model, images=True))
        family = texts_of(model).family
        return [f"family {family.title}", f"texts up to {family.length} tokens", preparation_of(model).name]

    @property
    def preprocessing(self) -> str:
        """How all is prepared, and the precision: vectors that differ in it never stand for each other."""
        return f"{self.preparation.name} {self.precision}{self.texts.family.mark}"

    @property
    def circumstances(self) -> Mapping[str, Any]:
        return weights.describe_environment(self.precision)

    @property
    def preferred_batch(self) -> int:
        return int(self.at_once)

    def prepare(self, content: bytes) -> bytes:
        """See `Preparing`."""
        return decode_ahead(content)

    def encode_images(self, contents: Sequence[bytes]) -> Vectors:
        """Images as PNG, JPEG or WebP → (n, d). Raises OSError or ValueError for what is no image."""
        with weights.convert_memory_errors():
            return self.gathered(decode_stacks(contents, self.at_once, self.device))

    def encode_pixels(self, images: Sequence[Pixels]) -> Vectors:
        """Images that are in memory already, (h, w, 3) each → (n, d)."""
        import torch

        with weights.convert_memory_errors():
            return self.gathered(
                [Stack([place], torch.from_numpy(np.ascontiguousarray(images[place]))[None]) for place in part]
                for part in batch_lazily(range(len(images)), self.at_once)
            )

    def gathered(self, parts: Iterable[Sequence[Stack]]) -> Vectors:
        """Vectors in the order of the images. The card is asked for nothing back before it has been given all."""
        import torch

        places: list[int] = []
        with torch.inference_mode():
            found = []
            for part in parts:
                places += [place for stack in part for place in stack.places]
                found.append(self.forward(part))
            vectors = as_vectors(torch.cat(found).cpu() if found else None, self.network.config)
        return vectors[np.argsort(places)] if places else vectors

    def forward(self, part: Sequence[Stack]) -> Any:
        """One batch → (n, d) float32 on the device, in the order of its stacks."""
        import torch

        prepared = [self.preparation.prepared(stack.pixels, self.device) for stack in part]
        values = torch.cat(prepared).to(self.network.dtype)
        return extract_projected_vectors(self.network.get_image_features(pixel_values=values))

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Texts → (n, d). Raises ValueError for one that the text encoder does not read to its end."""
        import torch

        with weights.convert_memory_errors(), torch.inference_mode():
            parts = [self.forward_texts(part) for part in batch_lazily(texts, self.at_once)]
            return as_vectors(torch.cat(parts).cpu() if parts else None, self.network.config)

    def forward_texts(self, texts: Sequence[str]) -> Any:
        read = self.texts.ids(texts)
        return extract_projected_vectors(
            self.network.get_text_features(**{name: row.to(self.device) for name, row in read.items()})
        )


def preparation_of(model: ModelData) -> Preparation:
    """How images are prepared, from the image processor's own configuration. Raises BackendError."""
    from transformers.image_processing_base import ImageProcessingMixin

    with weights.convert_loading_errors(model):
        config, _ = ImageProcessingMixin.get_image_processor_dict(model.identifier, **weights.source_of(model))
        return parse_preparation_config(config)


def batch_lazily(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of at most `size`, made as they are asked for: what is decoded waits for the device, not the reverse."""
    source = iter(items)
    while part := list(islice(source, size)):
        yield part


def extract_projected_vectors(found: Any) -> Any:
    """The projected vectors, (n, d) float32, of what the library's versions return."""
    return getattr(found, "pooler_output", found).float()


def as_vectors(found: Any, config: Any) -> Vectors:
    if found is None:
        width = getattr(config, "projection_dim", None) or config.vision_config.hidden_size
        return np.empty((0, int(width)), dtype=np.float32)
    vectors: Vectors = found.numpy()
    return vectors
