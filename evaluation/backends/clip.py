"""Image–text encoders of the CLIP and SigLIP families, by identifier and revision."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from evaluation.backends import loading
from evaluation.backends.base import BackendError, Vectors
from evaluation.backends.decoding import Pixels, Stack, stacks
from evaluation.backends.preparing import preparation
from evaluation.studies.base import ModelData

FAMILIES = ("clip", "siglip")
AT_ONCE = 256


class ClipEncoder:
    """Vectors of pictures and texts, (n, d) float32, not normalised.

    Model parameters: `precision` (fp32, bf16, fp16) and `at_once` (pictures per forward pass).
    """

    def __init__(self, model: ModelData) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.image_processing_base import ImageProcessingMixin

        self.precision = loading.precision_of(model)
        self.at_once = int(model.parameters.get("at_once", AT_ONCE))
        source = loading.source_of(model)
        with loading.loading(model):
            config, _ = ImageProcessingMixin.get_image_processor_dict(model.identifier, **source)
            self.tokenizer = AutoTokenizer.from_pretrained(model.identifier, **source)
        self.network = loading.pretrained(model, AutoModel, self.precision)
        self.family = str(self.network.config.model_type)
        if self.family not in FAMILIES:
            raise BackendError(f"{model.slug} is of the family {self.family}. Accepted: {', '.join(FAMILIES)}.")
        self.preparation = preparation(config)
        self.device = loading.device()

    @property
    def preprocessing(self) -> str:
        """How pictures were prepared, and the precision: vectors that differ in it never stand for each other."""
        return f"{self.preparation.name} {self.precision}"

    @property
    def circumstances(self) -> Mapping[str, Any]:
        return loading.circumstances(self.precision)

    def encode_images(self, contents: Sequence[bytes]) -> Vectors:
        """Pictures as PNG, JPEG or WebP → (n, d). Raises OSError or ValueError for what is no picture."""
        with loading.memory():
            return self.gathered(stacks(contents, self.at_once, self.device))

    def encode_pixels(self, pictures: Sequence[Pixels]) -> Vectors:
        """Pictures that are in memory already, (h, w, 3) each → (n, d)."""
        import torch

        with loading.memory():
            return self.gathered(
                [Stack([place], torch.from_numpy(np.ascontiguousarray(pictures[place]))[None]) for place in part]
                for part in taken(range(len(pictures)), self.at_once)
            )

    def gathered(self, parts: Iterable[Sequence[Stack]]) -> Vectors:
        """Vectors in the order of the pictures. The card is asked for nothing back before it has been given all."""
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
        return pooled(self.network.get_image_features(pixel_values=values))

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Texts → (n, d). Raises ValueError for one that the text encoder does not read to its end."""
        import torch

        with loading.memory(), torch.inference_mode():
            parts = [self.forward_texts(part) for part in taken(texts, self.at_once)]
            return as_vectors(torch.cat(parts).cpu() if parts else None, self.network.config)

    def forward_texts(self, texts: Sequence[str]) -> Any:
        most = int(self.network.config.text_config.max_position_embeddings)
        # SigLIP was trained on texts filled up to the full length, and without a mask.
        filled = "max_length" if self.family == "siglip" else "longest"
        read = self.tokenizer(list(texts), padding=filled, max_length=most, truncation=False, return_tensors="pt")
        if read["input_ids"].shape[1] > most:
            raise ValueError(f"A text has more than the {most} tokens that the text encoder reads.")
        names = ("input_ids",) if self.family == "siglip" else ("input_ids", "attention_mask")
        return pooled(self.network.get_text_features(**{name: read[name].to(self.device) for name in names}))


def taken(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of at most `size`, made as they are asked for: what is decoded waits for the device, not the reverse."""
    source = iter(items)
    while part := list(islice(source, size)):
        yield part


def pooled(found: Any) -> Any:
    """The projected vectors, (n, d) float32, of what the library's versions return."""
    return getattr(found, "pooler_output", found).float()


def as_vectors(found: Any, config: Any) -> Vectors:
    if found is None:
        width = getattr(config, "projection_dim", None) or config.vision_config.hidden_size
        return np.empty((0, int(width)), dtype=np.float32)
    vectors: Vectors = found.numpy()
    return vectors
