"""Vision-language models of the LLaVA-NeXT family, by identifier and revision.

A picture is 2,000 to 3,000 tokens, a question a few dozen. What depends on the picture alone is therefore computed
once, and all questions about it go through the model together: each sees the picture and itself, none another.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, ClassVar

from evaluation.backends import loading
from evaluation.backends.base import Answer, Asked, BackendError, Question, Reading
from evaluation.backends.decoding import Pixels, decoded, pool
from evaluation.backends.packing import Packed, Shared, letter_tokens, packed
from evaluation.backends.tiling import Tiling, tiling
from evaluation.studies.base import ModelData

FAMILY = "llava_next"
LIMITS = ("most_new_tokens", "tokens_at_once")
# Tokens of questions in one pass through the model: enough to fill a card.
TOKENS_AT_ONCE = 2048
MOST_NEW_TOKENS = 32


class PictureAnswerer:
    """Asks a LLaVA-NeXT that is loaded already."""

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
        self.network = network
        self.tokenizer = tokenizer
        self.template = template
        self.tiling = tiling
        self.most_new_tokens = most_new_tokens
        self.tokens_at_once = tokens_at_once
        self.image_token = int(network.config.image_token_id)
        self.device = network.get_input_embeddings().weight.device
        self.circumstances: Mapping[str, Any] = {}

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Sequence[Answer]]:
        """See `VisualAnswerer`. The next picture is decoded while the card works on this one."""
        pictures = [pool().submit(decoded, each.image) for each in asked]
        for each, picture in zip(asked, pictures, strict=True):
            yield self.answers(picture, each.questions, reading)

    def answers(self, picture: "Future[Pixels]", questions: Sequence[Question], reading: Reading) -> list[Answer]:
        import torch

        with loading.memory(), torch.inference_mode():
            shared = self.shared(picture.result(), self.tokens(questions[0].text)[0]) if questions else None
            found: list[Answer] = []
            for part in self.parts(questions):
                if shared is not None:
                    found += self.generated(shared, part) if reading == "generated" else self.read(shared, part)
            return found

    def rendered(self, text: str) -> str:
        """The question as the model's makers wrap it, with one place for the picture before it."""
        content = [{"type": "image"}, {"type": "text", "text": text}]
        return str(
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}],
                chat_template=self.template,
                add_generation_prompt=True,
                tokenize=False,
            )
        )

    def tokens(self, text: str) -> tuple[list[int], list[int]]:
        """Tokens before and after the picture."""
        ids = list(self.tokenizer(self.rendered(text))["input_ids"])
        if ids.count(self.image_token) != 1:
            raise ValueError("A question does not leave exactly one place for the picture.")
        place = ids.index(self.image_token)
        return ids[:place], ids[place + 1 :]

    def parts(self, questions: Sequence[Question]) -> Iterator[list[Question]]:
        """Questions that go through the model together."""
        part: list[Question] = []
        length = 0
        for question in questions:
            tokens = len(self.tokens(question.text)[1])
            if part and length + tokens > self.tokens_at_once:
                yield part
                part, length = [], 0
            part.append(question)
            length += tokens
        if part:
            yield part

    def shared(self, picture: Pixels, before: Sequence[int]) -> Shared:
        """What the model holds of a picture and of what stands before it."""
        import torch

        pixels = torch.from_numpy(picture.copy()).to(self.device)
        sizes = torch.tensor([picture.shape[:2]])
        tiles = self.tiling.tiles(pixels).to(self.network.dtype)
        found = self.network.model.get_image_features(pixel_values=tiles, image_sizes=sizes)
        features = getattr(found, "pooler_output", found)[0]
        words = self.network.get_input_embeddings()(torch.tensor([list(before)], device=self.device, dtype=torch.long))
        embedded = torch.cat([words, features[None].to(words)], dim=1)
        return Shared(self.network, embedded)

    def pack(self, questions: Sequence[Question]) -> Packed:
        return packed([self.tokens(question.text)[1] for question in questions], self.device)

    def read(self, shared: Shared, questions: Sequence[Question]) -> list[Answer]:
        """Probabilities of the letters as the first token of the answer."""
        chances = shared.asked(self.pack(questions)).float().log_softmax(dim=-1).cpu()
        shared.forget()
        return [
            Answer(probabilities=self.of_letters(question, row), circumstances=self.circumstances)
            for question, row in zip(questions, chances, strict=True)
        ]

    def of_letters(self, question: Question, row: Any) -> tuple[float, ...]:
        """Each letter's share of the probability that all letters have together, in all ways to write them."""
        import torch

        if not question.letters:
            raise ValueError("A question without options has no letters to read.")
        ways = letter_tokens(self.tokenizer, self.rendered(question.text), question.letters)
        return tuple(torch.stack([row[ids].logsumexp(dim=0) for ids in ways]).softmax(dim=0).double().tolist())

    def generated(self, shared: Shared, questions: Sequence[Question]) -> list[Answer]:
        """The likeliest next token, again and again, until the model ends or the answer is long enough."""
        made = shared.continued(self.pack(questions), self.most_new_tokens, self.ends())
        shared.forget()
        texts = [str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip() for ids in made]
        return [Answer(text=text, circumstances=self.circumstances) for text in texts]

    def ends(self) -> frozenset[int]:
        given = self.network.generation_config.eos_token_id
        given = self.tokenizer.eos_token_id if given is None else given
        return frozenset(given if isinstance(given, list | tuple) else [given])


class VisionLanguageModel(PictureAnswerer):
    """A model of the registry: answers in words, or as probabilities of the option letters.

    Model parameters: `precision` (fp32, bf16, fp16), `most_new_tokens` (length of an answer in words),
    `tokens_at_once` (of questions in one pass), `spread` (true: over all cards of the machine).
    """

    def __init__(self, model: ModelData) -> None:
        from transformers import AutoTokenizer, LlavaNextForConditionalGeneration
        from transformers.image_processing_base import ImageProcessingMixin

        precision, source = loading.precision_of(model), loading.source_of(model)
        with loading.loading(model):
            config, _ = ImageProcessingMixin.get_image_processor_dict(model.identifier, **source)
            tokenizer = AutoTokenizer.from_pretrained(model.identifier, **source)
            template = tokenizer.chat_template or loading.side_file(model, "chat_template.json")
        spread = bool(model.parameters.get("spread", False))
        network = loading.pretrained(model, LlavaNextForConditionalGeneration, precision, spread=spread)
        check(model, network, template)
        limits = {name: int(model.parameters[name]) for name in LIMITS if name in model.parameters}
        super().__init__(network, tokenizer, template, tiling(config, network.config.image_grid_pinpoints), **limits)
        self.circumstances = loading.circumstances(precision)


def check(model: ModelData, network: Any, template: str) -> None:
    """Raises BackendError for a model that would be asked wrongly."""
    family = str(network.config.model_type)
    if family != FAMILY:
        raise BackendError(f"{model.slug} is of the family {family}. Accepted: {FAMILY}.")
    if not template:
        raise BackendError(f"{model.slug} comes without a chat template: nobody knows how it wants to be asked.")
    if getattr(network.config.text_config, "sliding_window", None):
        raise BackendError(f"{model.slug} looks back over a limited window only, which is not known here.")
