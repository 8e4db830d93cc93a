"""Vision-language models of the LLaVA-NeXT family, by identifier and revision.

An image is 2,000 to 3,000 tokens, a question a few dozen. What depends on the image alone is therefore computed
once, and all questions about it go through the model together: each sees the image and itself, none another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from evaluation.backends import weight_files, weights
from evaluation.backends.image_decode import decode_ahead, decode_image_stream
from evaluation.backends.vlm.packing import Packed, Shared, on_its_way, pack_questions
from evaluation.backends.vlm.prompts import Wording
from evaluation.backends.vlm.tiling import Tiling, parse_tiling_config
from evaluation.contracts import parameters
from evaluation.contracts.backend import Answer, Asked, BackendError, Question, Reading
from evaluation.contracts.study import ModelData

if TYPE_CHECKING:
    from torch import Tensor

FAMILIES = ("llava_next",)
LIMITS = ("most_new_tokens", "tokens_at_once")
# Tokens of questions in one pass through the model: enough to fill a card.
TOKENS_AT_ONCE = 2048
MOST_NEW_TOKENS = 32
# Groups of questions whose tokens stay on the card: the same ones are put to every image.
MOST_CACHED_GROUPS = 16

Finish = Callable[[], list[Answer]]


class ImageAnswerer:
    """Asks a LLaVA-NeXT that is loaded already. Not for several threads."""

    readings: ClassVar[tuple[Reading, ...]] = ("generated", "logits")

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        template: str,
        tiling: Tiling,
        *,
        most_new_tokens: int = MOST_NEW_TOKENS,
        tokens_at_once: int = TOKENS_AT_ONCE,
    ) -> None:
        import torch

        self.network = network
        self.tokenizer = tokenizer
        self.wording = Wording(tokenizer, template, int(network.config.image_token_id))
        self.tiling = tiling
        self.most_new_tokens = most_new_tokens
        self.tokens_at_once = tokens_at_once
        self.device = network.get_input_embeddings().weight.device
        self.before = torch.tensor([self.wording.before], device=self.device, dtype=torch.long)
        self.window = getattr(network.config.text_config, "sliding_window", None)
        self.pack = lru_cache(MOST_CACHED_GROUPS)(self._pack)
        self.circumstances: Mapping[str, Any] = {}

    def prepare(self, content: bytes) -> bytes:
        """See `Preparing`."""
        return decode_ahead(content)

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Sequence[Answer]]:
        """See `VisualAnswerer`. The card has the next image before anybody waits for its answers about this one."""
        images = decode_image_stream([each.image for each in asked], self.device.type)
        for finish in overlap_batches(
            self.begun(image, each.questions, reading) for each, image in zip(asked, images, strict=True)
        ):
            yield finish()

    def begun(self, image: "Tensor", questions: Sequence[Question], reading: Reading) -> Finish:
        """Gives the card its work on one image, (h, w, 3) uint8 → what waits for the answers."""
        import torch

        if not questions:
            return list
        read = self.generated if reading == "generated" else self.read
        with weights.convert_memory_errors(), torch.inference_mode():
            shared = self.shared(image)
            finishes = [read(shared, part) for part in self.parts(questions)]
        return lambda: [answer for finish in finishes for answer in finish()]

    def parts(self, questions: Sequence[Question]) -> Iterator[list[Question]]:
        """Questions, at least one, in the parts that go through the model together."""
        part: list[Question] = []
        length = 0
        for question in questions:
            tokens = len(self.wording.after(question.text))
            if part and length + tokens > self.tokens_at_once:
                yield part
                part, length = [], 0
            part.append(question)
            length += tokens
        yield part

    def shared(self, image: "Tensor") -> Shared:
        """What the model holds of an image and of what is before it."""
        import torch

        tiles = self.tiling.tiles(image.to(self.device, non_blocking=True)).to(self.network.dtype)
        sizes = torch.tensor([image.shape[:2]])
        found = self.network.model.get_image_features(pixel_values=tiles, image_sizes=sizes)
        features = getattr(found, "pooler_output", found)[0]
        words = self.network.get_input_embeddings()(self.before)
        return Shared(self.network, torch.cat([words, features[None].to(words)], dim=1))

    def packed(self, shared: Shared, questions: Sequence[Question], more: int) -> Packed:
        """The questions in one row. Raises BackendError where one, with `more` tokens, would not see the beginning."""
        rows = tuple(self.wording.after(question.text) for question in questions)
        longest = shared.length + max(map(len, rows)) + more
        if self.window and longest > self.window:
            raise BackendError(
                f"The model looks back over {self.window} tokens only, and an image with a question is {longest}."
            )
        return self.pack(rows)

    def _pack(self, rows: tuple[tuple[int, ...], ...]) -> Packed:
        return pack_questions(rows, self.device)

    def read(self, shared: Shared, questions: Sequence[Question]) -> Finish:
        """Probabilities of the letters as the first token of the answer."""
        ways = [self.wording.ways(question) for question in questions]
        rows = on_its_way(shared.asked(self.packed(shared, questions, 0)).float())
        shared.forget()
        return lambda: [
            Answer(probabilities=of_letters(row, of_one), circumstances=self.circumstances)
            for of_one, row in zip(ways, rows(), strict=True)
        ]

    def generated(self, shared: Shared, questions: Sequence[Question]) -> Finish:
        """The likeliest next token, again and again, until the model ends or the answer is long enough."""
        most = self.most_new_tokens
        made = shared.continued(self.packed(shared, questions, most), most, self.ends())
        shared.forget()
        texts = [str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip() for ids in made]
        return lambda: [Answer(text=text, circumstances=self.circumstances) for text in texts]

    def ends(self) -> frozenset[int]:
        given = self.network.generation_config.eos_token_id
        given = self.tokenizer.eos_token_id if given is None else given
        return frozenset(given if isinstance(given, list | tuple) else [given])


def of_letters(row: "Tensor", ways: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Logits of all tokens → each letter's share of what all letters have together, in all ways to write them."""
    import torch

    return tuple(torch.stack([row[list(ids)].logsumexp(dim=0) for ids in ways]).softmax(dim=0).double().tolist())


def overlap_batches(begun: Iterator[Finish]) -> Iterator[Finish]:
    """Each as soon as the next has begun too, or has failed to."""
    waiting: Finish | None = None
    while True:
        try:
            following = next(begun, None)
        except Exception:
            if waiting is not None:
                yield waiting
            raise
        if waiting is not None:
            yield waiting
        if following is None:
            return
        waiting = following


class VisionLanguageModel(ImageAnswerer):
    """A model of the registry: answers in words, or as probabilities of the option letters.

    Model parameters: `precision` (fp32, bf16, fp16), `most_new_tokens` (length of an answer in words),
    `tokens_at_once` (of questions in one pass), `spread` (true: over all cards of the machine).
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
