"""What all vision-language models have in common: the beginning once for each image, all questions about it together.

An image is hundreds to thousands of tokens, a question a few dozen. What depends on the image alone is therefore
computed once, and all questions about it go through the model together: each sees the image and itself, none another.
Questions about several images share a pass too, and the steps in which answers are written.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from evaluation.backends import weights
from evaluation.backends.vlm import fused_norms
from evaluation.backends.vlm.decoding import Decoder, room_for
from evaluation.backends.vlm.packing import Beginning, LanguageModel, Packed, on_its_way, pack_questions
from evaluation.backends.vlm.prompts import Wording
from evaluation.contracts.backend import Answer, Asked, Question, Reading

if TYPE_CHECKING:
    from torch import Tensor

LIMITS = ("most_new_tokens", "tokens_at_once", "images_at_once")
# Tokens of questions in one pass through the model: enough to fill a card.
TOKENS_AT_ONCE = 4096
# Images whose answers are written in the same steps.
IMAGES_AT_ONCE = 8
MOST_NEW_TOKENS = 32
# Groups of questions whose tokens stay on the card: the same ones are put to every image.
MOST_CACHED_GROUPS = 16

Finish = Callable[[], list[list[Answer]]]
# A question and the number of its image in the group.
Placed = tuple[int, int, Question]


class SharedAnswerer:
    """Asks a model that is loaded already. Its families say how an image becomes a beginning. Not for threads."""

    readings: ClassVar[tuple[Reading, ...]] = ("generated", "logits")

    def __init__(
        self,
        network: Any,
        wording: Wording,
        *,
        most_new_tokens: int = MOST_NEW_TOKENS,
        tokens_at_once: int = TOKENS_AT_ONCE,
        images_at_once: int = IMAGES_AT_ONCE,
    ) -> None:
        self.network, self.wording, self.tokenizer = network, wording, wording.tokenizer
        self.most_new_tokens = most_new_tokens
        self.tokens_at_once = tokens_at_once
        self.images_at_once = images_at_once
        self.device = network.get_input_embeddings().weight.device
        self.language = LanguageModel(network)
        self.decoder = Decoder(self.language, self.device)
        self.pack = lru_cache(MOST_CACHED_GROUPS)(self._pack)
        self.circumstances: Mapping[str, Any] = {}
        if self.device.type == "cuda":
            fused_norms.fuse_norms(self.language.inner)

    def prepared(self, contents: Sequence[bytes]) -> Iterator[Any]:
        """Images as `shared` takes them, the next ones prepared meanwhile. Raises ImageError when its turn comes."""
        raise NotImplementedError

    def shared(self, image: Any) -> Beginning:
        """What the model holds of an image and of what is before it."""
        raise NotImplementedError

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Sequence[Answer]]:
        """See `VisualAnswerer`. The card has the next images before anybody waits for its answers about these."""
        images = self.prepared([each.image for each in asked])
        groups = group_images(zip(asked, images, strict=True), self.images_at_once)
        for finish in overlap_batches(self.begun(group, reading) for group in groups):
            yield from finish()

    def begun(self, group: Sequence[tuple[Asked, Any]], reading: Reading) -> Finish:
        """Gives the card its work on some images → what waits for the answers, in their order."""
        import torch

        asking = [number for number, (asked, _) in enumerate(group) if asked.questions]
        if not asking:
            return lambda: [[] for _ in group]
        with weights.convert_memory_errors(), torch.inference_mode():
            beginnings = [self.shared(group[number][1]) for number in asking]
            read = self.generated if reading == "generated" else self.read
            finish = read(beginnings, [group[number][0].questions for number in asking])

        def finished() -> list[list[Answer]]:
            found = dict(zip(asking, finish(), strict=True))
            return [found.get(number, []) for number in range(len(group))]

        return finished

    def parts(self, questions: Sequence[Question]) -> Iterator[list[Question]]:
        """Questions about one image in the parts that go through the model together."""
        for part in self.placed_parts([questions]):
            yield [question for _, _, question in part]

    def placed_parts(self, asked: Sequence[Sequence[Question]]) -> Iterator[list[Placed]]:
        """Questions about several images, at least one, in the parts that go through the model together."""
        part: list[Placed] = []
        length = 0
        for image, questions in enumerate(asked):
            for number, question in enumerate(questions):
                tokens = len(self.wording.after(question.text))
                if part and length + tokens > self.tokens_at_once:
                    yield part
                    part, length = [], 0
                part.append((image, number, question))
                length += tokens
        yield part

    def packed(self, questions: Sequence[Question]) -> Packed:
        return self.pack(tuple(self.wording.after(question.text) for question in questions))

    def _pack(self, rows: tuple[tuple[int, ...], ...]) -> Packed:
        return pack_questions(rows, self.device)

    def first_logits(self, beginnings: Sequence[Beginning], part: Sequence[Placed], keep: Any = None) -> "Tensor":
        """Logits of the first token of each answer of a part; `keep` as in `LanguageModel.asked`."""
        about = sorted({image for image, _, _ in part})
        counts = [sum(image == one for image, _, _ in part) for one in about]
        packed = self.packed([question for _, _, question in part])
        return self.language.asked([beginnings[one] for one in about], counts, packed, keep)

    def read(self, beginnings: Sequence[Beginning], asked: Sequence[Sequence[Question]]) -> Finish:
        """Probabilities of the letters as the first token of the answer."""
        # A letter that cannot be read is said before the card has any work.
        ways = [[self.wording.ways(question) for question in questions] for questions in asked]
        parts = list(self.placed_parts(asked))
        rows = [on_its_way(self.first_logits(beginnings, part).float()) for part in parts]

        def finished() -> list[list[Answer]]:
            found: list[list[Answer]] = [[] for _ in asked]
            for part, arrived in zip(parts, rows, strict=True):
                for (image, number, _), row in zip(part, arrived(), strict=True):
                    chances = of_letters(row, ways[image][number])
                    found[image].append(Answer(probabilities=chances, circumstances=self.circumstances))
            return found

        return finished

    def generated(self, beginnings: Sequence[Beginning], asked: Sequence[Sequence[Question]]) -> Finish:
        """The likeliest next token, again and again, until the model ends or the answer is long enough."""
        made = self.written(beginnings, asked)
        return lambda: [[self.worded(ids) for ids in rows] for rows in made]

    def worded(self, ids: Sequence[int]) -> Answer:
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()
        return Answer(text=text, circumstances=self.circumstances)

    def written(self, beginnings: Sequence[Beginning], asked: Sequence[Sequence[Question]]) -> list[list[list[int]]]:
        """Tokens of each answer, by image and question."""
        import torch

        most = self.most_new_tokens
        each = max(map(len, asked))
        longest = max(len(self.wording.after(question.text)) for questions in asked for question in questions)
        room = room_for(beginnings, each, longest, most)
        if len(beginnings) > 1 and not self.decoder.fits(beginnings, room):
            half = len(beginnings) // 2
            return [*self.written(beginnings[:half], asked[:half]), *self.written(beginnings[half:], asked[half:])]
        grid = self.decoder.grid_for(beginnings, room, most, self.ends())
        for part in self.placed_parts(asked):
            rows = torch.tensor([image * each + number for image, number, _ in part], device=self.device)
            packed = self.packed([question for _, _, question in part])
            ids = self.first_logits(beginnings, part, grid.keeper(packed, rows)).argmax(dim=-1)
            grid.first(rows, ids, packed.lengths)
        made = grid.continued()
        return [made[image * each : image * each + len(questions)] for image, questions in enumerate(asked)]

    def ends(self) -> frozenset[int]:
        given = self.network.generation_config.eos_token_id
        given = self.tokenizer.eos_token_id if given is None else given
        return frozenset(given if isinstance(given, list | tuple) else [given])


def of_letters(row: "Tensor", ways: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Logits of all tokens → each letter's share of what all letters have together, in all ways to write them."""
    import torch

    return tuple(torch.stack([row[list(ids)].logsumexp(dim=0) for ids in ways]).softmax(dim=0).double().tolist())


def group_images(pairs: Iterator[tuple[Asked, Any]], at_once: int) -> Iterator[list[tuple[Asked, Any]]]:
    """Images in groups of `at_once`; those before one that is none are handed on first."""
    group: list[tuple[Asked, Any]] = []
    while True:
        try:
            pair = next(pairs, None)
        except Exception:
            if group:
                yield group
            raise
        if pair is None:
            break
        group.append(pair)
        if len(group) == at_once:
            yield group
            group = []
    if group:
        yield group


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
