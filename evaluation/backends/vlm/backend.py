"""Vision-language models of the LLaVA-NeXT family, by identifier and revision, with images prepared on the card."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.backends import weight_files, weights
from evaluation.backends.image_decode import decode_ahead, decode_image_stream
from evaluation.backends.vlm.answering import LIMITS, SharedAnswerer
from evaluation.backends.vlm.packing import Beginning
from evaluation.backends.vlm.prompts import Wording
from evaluation.backends.vlm.tiling import Tiling, parse_tiling_config
from evaluation.contracts import parameters
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData

if TYPE_CHECKING:
    from torch import Tensor

FAMILIES = ("llava_next",)


class ImageAnswerer(SharedAnswerer):
    """Asks a LLaVA-NeXT that is loaded already. Not for several threads."""

    def __init__(self, network: Any, tokenizer: Any, template: str, tiling: Tiling, **limits: int) -> None:
        import torch

        super().__init__(network, Wording(tokenizer, template, int(network.config.image_token_id)), **limits)
        self.tiling = tiling
        self.before = torch.tensor([self.wording.before], device=self.device, dtype=torch.long)

    def prepare(self, content: bytes) -> bytes:
        """See `Preparing`."""
        return decode_ahead(content)

    def prepared(self, contents: Sequence[bytes]) -> "Iterator[Tensor]":
        """Images (h, w, 3) uint8."""
        return decode_image_stream(contents, self.device.type)

    def shared(self, image: "Tensor") -> Beginning:
        """See `SharedAnswerer`."""
        import torch

        tiles = self.tiling.tiles(image.to(self.device, non_blocking=True)).to(self.network.dtype)
        sizes = torch.tensor([image.shape[:2]])
        found = self.network.model.get_image_features(pixel_values=tiles, image_sizes=sizes)
        features = getattr(found, "pooler_output", found)[0]
        words = self.network.get_input_embeddings()(self.before)
        return self.language.begin(torch.cat([words, features[None].to(words)], dim=1))


class VisionLanguageModel(ImageAnswerer):
    """A model of the registry: answers in words, or as probabilities of the option letters.

    Model parameters: `precision` (fp32, bf16, fp16), `most_new_tokens` (length of an answer in words),
    `tokens_at_once` (of questions in one pass), `images_at_once` (whose answers are written together), `spread`
    (true: over all cards of the machine).
    """

    def __init__(self, model: ModelData) -> None:
        from transformers import LlavaNextForConditionalGeneration
        from transformers.image_processing_base import ImageProcessingMixin

        given = parameters.resolve_parameter_values(model)
        tokenizer, template = words_of(model)
        with weights.convert_loading_errors(model):
            config, _ = ImageProcessingMixin.get_image_processor_dict(model.identifier, **weights.source_of(model))
        network = weights.load_pretrained_model(
            model, LlavaNextForConditionalGeneration, given["precision"], spread=given["spread"]
        )
        with weights.convert_loading_errors(model):
            tiles = parse_tiling_config(config, network.config.image_grid_pinpoints)
        super().__init__(network, tokenizer, template, tiles, **{name: given[name] for name in LIMITS})
        self.circumstances = {**weights.describe_environment(given["precision"]), "preprocessing": self.tiling.name}

    @staticmethod
    def inspect(model: ModelData) -> list[str]:
        """See `evaluation.backends.inspect_model`."""
        weights.config_of(model, FAMILIES)
        weight_files.require_complete_weights(model, weight_files.missing_of_model(model, images=True))
        words_of(model)
        return [f"family {FAMILIES[0]}"]


def words_of(model: ModelData) -> tuple[Any, str]:
    """The tokenizer and the template by which the model is asked; no weights are opened.

    Raises BackendError for a model that would be asked wrongly.
    """
    from transformers import AutoTokenizer

    weights.config_of(model, FAMILIES)
    with weights.convert_loading_errors(model):
        tokenizer = AutoTokenizer.from_pretrained(model.identifier, **weights.source_of(model))
        # The tokenizer's own template may be that of the language model alone, which knows no images.
        template = weights.side_file(model, "chat_template.json") or tokenizer.chat_template
    if not template:
        raise BackendError(f"{model.slug} comes without a chat template: nobody knows how it wants to be asked.")
    return tokenizer, str(template)
