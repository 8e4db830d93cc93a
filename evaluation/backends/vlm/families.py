"""What belongs to a family of vision-language models: its processor without video, and the words that it is asked by.

The library's own processor decides how many tokens an image is and where they stand. It is put together here from its
parts, with the image processor that works on Pillow: made as a whole it asks for torchvision, for the sake of video.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from evaluation.backends import weights
from evaluation.backends.vlm.prompts import Wording
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData

# Each is compared with its own library, question by question, on a tiny model (tests/evaluation/backends).
FAMILIES = ("gemma3", "internvl", "llava_next", "llava_onevision", "mllama", "qwen2_5_vl", "qwen2_vl")
# Kept apart from those that only the vision tower sees: one value for each token.
BY_TOKEN = ("input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids", "cross_attention_mask")
# Pixels of the small image with which words are tried.
EDGE = 56
PARTS = ("self", "image_processor", "tokenizer", "video_processor", "chat_template", "args", "kwargs")


def load_processor(model: ModelData, family: str) -> Any:
    """The family's processor, for images and words. Raises BackendError; no weights are opened."""
    import transformers
    from transformers import AutoTokenizer
    from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    source = weights.source_of(model)
    with weights.convert_loading_errors(model):
        kind = getattr(transformers, PROCESSOR_MAPPING_NAMES[family])
        pillow = getattr(transformers, IMAGE_PROCESSOR_MAPPING_NAMES[family]["pil"])
        images = pillow.from_pretrained(model.identifier, **source)
        tokenizer = AutoTokenizer.from_pretrained(model.identifier, **source)
    # The tokenizer's own template may be that of the language model alone, which knows no images.
    template = weights.side_file(model, "chat_template.json") or tokenizer.chat_template
    if not template:
        raise BackendError(f"{model.slug} comes without a chat template: nobody knows how it wants to be asked.")
    said = weights.read_model_json(model, "processor_config.json") or {}
    with weights.convert_loading_errors(model):
        return build_processor(kind, images, tokenizer, str(template), said)


def build_processor(kind: Any, images: Any, tokenizer: Any, template: str, said: Mapping[str, Any]) -> Any:
    """A processor of class `kind` of these parts; `said`: what its configuration says beside them."""
    known = inspect.signature(kind.__init__).parameters
    given = {name: value for name, value in said.items() if name in known and name not in PARTS}

    class WithoutVideo(kind):
        """The same processor, which accepts that there is no part for video."""

        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return None if argument is None else super().check_argument_for_proper_class(argument_name, argument)

    WithoutVideo.__name__ = kind.__name__
    return WithoutVideo(image_processor=images, tokenizer=tokenizer, chat_template=template, **given)


class ProcessorWording(Wording):
    """Tokens of questions by a family's own processor: of the image it may make many, with others around them."""

    def __init__(self, processor: Any, image_token: int) -> None:
        self.processor = processor
        # The place that the template leaves need not be what stands there in the end.
        self.place = str(processor.image_token)
        self.written = str(processor.tokenizer.convert_ids_to_tokens(image_token))
        super().__init__(processor.tokenizer, str(processor.chat_template), image_token)

    def prepare(self, image: Any, text: str, processor: Any = None) -> dict[str, Any]:
        """All that the model is given of an image (Pillow) and a question, as the library gives it: tensors, one row.

        `processor`: another one alike, for another thread. Raises ValueError for a question that brings an image.
        """
        rendered = self.rendered(text)
        if rendered.count(self.place) != 1 or self.written in text:
            raise ValueError("A question does not leave exactly one place for the image.")
        made = processor or self.processor
        return dict(
            made(images=[image], text=[rendered], add_special_tokens=not self.begins(rendered), return_tensors="pt")
        )

    def cut(self, prepared: Mapping[str, Any]) -> dict[str, Any]:
        """What was prepared up to the last token of the image, which no question changes."""
        end = self.end_of_image(prepared["input_ids"][0].tolist())
        return {name: value[:, :end] if name in BY_TOKEN else value for name, value in prepared.items()}

    def end_of_image(self, ids: list[int]) -> int:
        """The number of tokens up to the last one of the image. Raises ValueError where there is none."""
        if self.image_token not in ids:
            raise ValueError("The processor leaves no token for the image.")
        return len(ids) - ids[::-1].index(self.image_token)

    def split(self, text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens up to the last one of the image, here a small one, and after it."""
        from PIL import Image

        ids = self.prepare(Image.new("RGB", (EDGE, EDGE)), text)["input_ids"][0].tolist()
        end = self.end_of_image(ids)
        return tuple(ids[:end]), tuple(ids[end:])
