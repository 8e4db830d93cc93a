"""Vision-language models as the library transformers knows them, by identifier and revision.

Images are prepared by the family's own image processor in its form for Pillow, words by its own tokenizer and template.
The beginning goes through the model as the library puts it together, whatever the family does with an image.
"""

import copy
import inspect
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from evaluation.backends import weight_files, weights
from evaluation.backends.image_decode import AHEAD, decode_image_bytes
from evaluation.backends.vlm import families
from evaluation.backends.vlm.answering import LIMITS, SharedAnswerer
from evaluation.backends.vlm.packing import Beginning
from evaluation.contracts import parameters
from evaluation.contracts.study import ModelData
from evaluation.readers import image_decode

# What every question is cut off from: any text will do.
ANY_QUESTION = "?"


class LibraryAnswerer(SharedAnswerer):
    """Asks a model of the library that is loaded already. Not for several threads."""

    def __init__(self, network: Any, processor: Any, **limits: int) -> None:
        super().__init__(network, families.ProcessorWording(processor, int(network.config.image_token_id)), **limits)
        # One thread prepares images; tokenizers are not for several, so it has one of its own.
        self.preparing = ThreadPoolExecutor(1, thread_name_prefix="preparing")
        self.aside = copy.deepcopy(processor)
        taken = inspect.signature(network.model.forward).parameters
        self.cache_name = "cache" if "cache" in taken else self.language.cache_name
        self.taken = frozenset(taken)
        self.tiles = int(getattr(network.config.vision_config, "max_num_tiles", 0) or 0)

    def prepared(self, contents: Sequence[bytes]) -> Iterator[Mapping[str, Any]]:
        """What the model is given of each image and of what is before it."""
        waiting: deque[Future[Mapping[str, Any]]] = deque()
        for content in contents:
            waiting.append(self.preparing.submit(self.prepare, content))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def prepare(self, content: bytes) -> Mapping[str, Any]:
        """Raises ImageError for what is no image."""
        from PIL import Image

        image = Image.fromarray(decode_image_bytes(content))
        wording = self.wording
        assert isinstance(wording, families.ProcessorWording)
        return wording.cut(wording.prepare(image, ANY_QUESTION, self.aside))

    def shared(self, image: Mapping[str, Any]) -> Beginning:
        """See `SharedAnswerer`."""
        from transformers import DynamicCache

        given = {
            name: value.to(self.device, self.network.dtype if value.is_floating_point() else None, non_blocking=True)
            for name, value in image.items()
            # Nothing is padded, so a mask would only keep the card from its fast kernel.
            if name in self.taken and name != "attention_mask"
        }
        cache = DynamicCache()
        if hasattr(self.network.model, "rope_deltas"):
            self.network.model.rope_deltas = None
        self.network.model(**given, **{self.cache_name: cache}, use_cache=True)
        length = given["input_ids"].shape[1]
        deltas = getattr(self.network.model, "rope_deltas", None)
        position = length if deltas is None else length + deltas.reshape(-1)[:1]
        return self.language.beginning_of(cache, length, position, self.visible(image))

    def visible(self, image: Mapping[str, Any]) -> float:
        """The share of an image's tiles that are no padding, where words look at the image aside."""
        mask = image.get("aspect_ratio_mask")
        return 1.0 if mask is None or not self.tiles else int(mask.sum()) / self.tiles


class LibraryVisionModel(LibraryAnswerer):
    """A model of the registry: answers in words, or as probabilities of the option letters.

    Model parameters: `precision` (fp32, bf16, fp16), `most_new_tokens` (length of an answer in words),
    `tokens_at_once` (of questions in one pass), `images_at_once` (whose answers are written together), `spread`
    (true: over all cards of the machine).
    """

    def __init__(self, model: ModelData) -> None:
        from transformers import AutoModelForImageTextToText

        given = parameters.resolve_parameter_values(model)
        family = family_of(model)
        processor = families.load_processor(model, family)
        network = weights.load_pretrained_model(
            model, AutoModelForImageTextToText, given["precision"], spread=given["spread"]
        )
        with weights.convert_loading_errors(model):
            super().__init__(network, processor, **{name: given[name] for name in LIMITS})
        self.circumstances = {
            **weights.describe_environment(given["precision"]),
            "preprocessing": f"{image_decode.VERSION} {type(processor.image_processor).__name__}",
        }

    @staticmethod
    def inspect(model: ModelData) -> list[str]:
        """See `evaluation.backends.inspect_model`."""
        family = family_of(model)
        weight_files.require_complete_weights(model, weight_files.missing_of_model(model, images=True))
        families.load_processor(model, family)
        return [f"family {family}"]


def family_of(model: ModelData) -> str:
    """The family of a model that answers about images. Raises BackendError for any other; no weights are opened."""
    return str(weights.config_of(model, families.FAMILIES)["model_type"])
