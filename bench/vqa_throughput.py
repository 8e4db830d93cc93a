"""How many questions about images a second a vision-language model answers, against the published way in one run.

    python -m bench.vqa_throughput [--shapes 7B:15 13B:40 qwen7B:15] [--images 40] [--gpus 1] [--tiny]

The published way gives the model the image anew with every question and lets it write an answer. Random weights in the
shape of LLaVA-NeXT (7B, 13B) and Qwen2.5-VL (qwen7B): speed does not depend on their values. They never end an answer,
so the number of written tokens is fixed and said. A shape is `size:questions about an image`.

Logits are compared with the card's own rate of a large matrix product, in the same run. Counted is what cannot be left
out of one image with q questions, two operations for each multiplication with its addition:

- every weight of the language model's layers, for every token of the beginning (L) and of the questions (tᵢ):
  2 · layers · (2·h·H·d + 2·h·K·d + 3·h·m) · (L + Σtᵢ), with h the width, H heads of d numbers, K heads of keys, m the
  width inside;
- attention, of each token to what it may see: 4 · layers · H·d · (L(L+1)/2 + Σ(tᵢL + tᵢ(tᵢ+1)/2));
- the head, for the last token of each question alone: 2 · q · h · vocabulary;
- the vision tower of LLaVA-NeXT, the same two sums over its patches. It is said apart too. That of Qwen2.5-VL, the
  projector, decoding, resizing, norms and rotations count as nothing and cost time.
"""

import argparse
import gc
import io
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from bench.clip_throughput import images
from bench.multi_gpu import about, over_cards
from bench.random_vlm import answerer, questions, spread
from evaluation.backends.image_decode import decode_image_bytes
from evaluation.backends.vlm.answering import SharedAnswerer, of_letters
from evaluation.backends.vlm.backend import ImageAnswerer
from evaluation.backends.vlm.families import ProcessorWording
from evaluation.contracts.backend import Asked, Question, Reading

WANTED_GENERATED = 30
WANTED_OF_MATRIX_RATE = 0.6
NEAR = 1e-4
EDGE = 1024
# Questions that are put one by one: more give the same rate.
MOST_ALONE = 15


def anew(backend: SharedAnswerer, image: bytes, question: Question, written: int) -> np.ndarray:
    """The published way: image and question together, each time; the probabilities of the letters at the end."""
    import torch

    given = inputs(backend, image, question)
    with torch.inference_mode():
        if written:
            backend.network.generate(**given, do_sample=False, max_new_tokens=written, min_new_tokens=written)
            return np.zeros(0)
        row = backend.network(**given, logits_to_keep=1).logits[0, -1].float().cpu()
    return np.array(of_letters(row, backend.wording.ways(question)))


def inputs(backend: SharedAnswerer, image: bytes, question: Question) -> dict[str, Any]:
    """All that the library's own class takes."""
    import torch

    if not isinstance(backend, ImageAnswerer):
        assert isinstance(backend.wording, ProcessorWording)
        made = backend.wording.prepare(Image.open(io.BytesIO(image)), question.text)
        kind = backend.network.dtype
        return {
            name: value.to(backend.device, kind if value.is_floating_point() else None) for name, value in made.items()
        }
    pixels = torch.from_numpy(decode_image_bytes(image).copy()).to(backend.device)
    tiles = backend.tiling.tiles(pixels)[None].to(backend.network.dtype)
    sizes = torch.tensor([pixels.shape[:2]])
    before, after = backend.wording.before, backend.wording.after(question.text)
    count = image_tokens(backend, tiles, sizes)
    ids = torch.tensor([[*before, *[backend.wording.image_token] * count, *after]], device=backend.device)
    return {"input_ids": ids, "pixel_values": tiles, "image_sizes": sizes, "attention_mask": torch.ones_like(ids)}


LENGTHS: dict[tuple[int, int], int] = {}


def image_tokens(backend: ImageAnswerer, tiles: Any, sizes: Any) -> int:
    """How many tokens an image of this size is; known after the first, as a processor knows it."""
    import torch

    size = (int(sizes[0, 0]), int(sizes[0, 1]))
    if size not in LENGTHS:
        with torch.inference_mode():
            found = backend.network.model.get_image_features(pixel_values=tiles, image_sizes=sizes)
        LENGTHS[size] = len(getattr(found, "pooler_output", found)[0])
    return LENGTHS[size]


def one_by_one(backend: SharedAnswerer, contents: Sequence[bytes], asked: Sequence[Question], written: int) -> float:
    """Questions a second the published way."""
    anew(backend, contents[0], asked[0], written)
    synchronize()
    start = time.perf_counter()
    for content in contents:
        for question in asked[:MOST_ALONE]:
            anew(backend, content, question, written)
    synchronize()
    return len(contents) * len(asked[:MOST_ALONE]) / (time.perf_counter() - start)


def together(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Questions and seconds of one process, the image's beginning computed once."""
    backend = answerer(arguments["shape"], "bf16", arguments["written"])
    return timed(backend, arguments["contents"], arguments["count"], arguments["reading"], ready)


def timed(
    backend: SharedAnswerer,
    contents: Sequence[bytes],
    count: int,
    reading: Reading,
    ready: Callable[[], None] = lambda: None,
) -> tuple[int, float]:
    asked = [Asked(content, questions(count)) for content in contents]
    list(backend.answer(asked[: backend.images_at_once], reading))
    synchronize()
    ready()
    start = time.perf_counter()
    answers = list(backend.answer(asked, reading))
    return sum(map(len, answers)), time.perf_counter() - start


def has_card() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def synchronize() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def empty_cache() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def matrix_rate(edge: int, kind: str) -> float:
    """Operations a second of one large square matrix product."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if kind == "bf16" else torch.float32
    one, other = (torch.randn(edge, edge, device=device, dtype=dtype) for _ in range(2))
    for _ in range(5):
        one @ other
    synchronize()
    start, times = time.perf_counter(), 30
    for _ in range(times):
        one @ other
    synchronize()
    return times * 2 * edge**3 / (time.perf_counter() - start)


def count_language_operations(config: Any, beginning: int, lengths: Sequence[int]) -> float:
    """Of one image and its questions: see the formulas above."""
    width, heads, layers = config.hidden_size, config.num_attention_heads, config.num_hidden_layers
    each = getattr(config, "head_dim", None) or width // heads
    keys, inside = config.num_key_value_heads * each, config.intermediate_size
    weights = 2 * width * heads * each + 2 * width * keys + 3 * width * inside
    pairs = beginning * (beginning + 1) / 2 + sum(length * beginning + length * (length + 1) / 2 for length in lengths)
    linear = 2 * layers * weights * (beginning + sum(lengths))
    return linear + 4 * layers * heads * each * pairs + 2 * len(lengths) * width * config.vocab_size


def count_tower_operations(config: Any, tiles: int) -> float:
    """Of a CLIP tower over `tiles` images: its layers up to the one that is read (the last but one)."""
    patches = (config.image_size // config.patch_size) ** 2 + 1
    layers, width = config.num_hidden_layers - 1, config.hidden_size
    linear = 2 * layers * (4 * width * width + 2 * width * config.intermediate_size) * patches
    return tiles * (linear + 4 * layers * width * patches**2)


def exactness(cards: int, kind: str = "fp32") -> tuple[float, float]:
    """The largest difference of any probability from asking one by one on one card, on a tiny model; and the share
    of answers in words that are the same.

    On several cards the tiny model is spread over two, as a large one would be.
    """
    import torch

    backend = answerer("tiny", kind, 6)
    for parameter in backend.network.parameters():
        parameter.data *= 4 if parameter.dim() > 1 else 1
    contents, asked = images("PNG", 2, 600), questions()
    alone = [[anew(backend, content, question, 0) for question in asked] for content in contents]
    texts = []
    for content in contents:
        for question in asked:
            given = inputs(backend, content, question)
            with torch.inference_mode():
                made = backend.network.generate(**given, do_sample=False, max_new_tokens=6, min_new_tokens=6)
            ids = made[0, given["input_ids"].shape[1] :].tolist()
            texts.append(str(backend.tokenizer.decode(ids, skip_special_tokens=True)).strip())
    if cards > 1:
        spread(backend.network)
    every = [Asked(content, asked) for content in contents]
    written = [answer.text for answers in backend.answer(every, "generated") for answer in answers]
    alike = sum(one == other for one, other in zip(texts, written, strict=True)) / len(texts)
    found = backend.answer(every, "logits")
    difference = max(
        float(np.abs(np.array(answer.probabilities) - wanted).max())
        for answers, row in zip(found, alone, strict=True)
        for answer, wanted in zip(answers, row, strict=True)
    )
    return difference, alike


def report(options: argparse.Namespace, shape: str, count: int, rate: float) -> None:
    """One shape's figures. `rate`: of matrix products, operations a second."""
    LENGTHS.clear()
    kind = "fp32" if options.tiny else "bf16"
    contents = images("PNG", options.images, options.edge)
    backend = answerer(shape, kind, options.written)
    asked = questions(count)
    few = contents[: options.baseline]
    slow = one_by_one(backend, few, asked, options.written)
    lengths = [len(backend.wording.after(question.text)) for question in asked]
    beginning, stages = measure_stages(backend, contents[0], asked)
    print(f"{shape}: beginning of {beginning} tokens, {count} questions of {min(lengths)} to {max(lengths)}, {kind}")
    print(f"  one by one, {options.written} tokens written: {slow:8.2f} questions/s")
    print(f"  one by one, 1 token written:  {one_by_one(backend, few, asked, 1):8.2f} questions/s")
    print(f"  one by one, logits read:      {one_by_one(backend, few, asked, 0):8.2f} questions/s")
    fast: dict[str, float] = {}
    readings: tuple[Reading, ...] = ("logits", "generated")
    for reading in readings:
        number, seconds = timed(backend, contents, count, reading)
        fast[reading] = number / seconds
        print(
            f"  beginning shared, {reading}: {fast[reading]:8.2f} questions/s, {fast[reading] / slow:5.1f} × one by one"
        )
        if options.gpus > 1:
            arguments = {**vars(options), "shape": shape, "count": count, "contents": contents, "reading": reading}
            all_of_them = over_cards(options.gpus, together, arguments)
            print(
                f"    on {options.gpus} cards: {all_of_them:8.2f} questions/s, {all_of_them / fast[reading]:4.2f} × one"
            )
    grid = backend.decoder.grid
    print(f"  steps repeated as recorded (CUDA graph): {'yes' if grid and grid.graph else 'no'}; one image: {stages}")
    config = backend.network.config
    language = count_language_operations(config.get_text_config(), beginning, lengths)
    tower = 0.0
    if isinstance(backend, ImageAnswerer):
        tiles = len(backend.tiling.tiles(next(backend.prepared(contents[:1]))))
        tower = count_tower_operations(config.vision_config, tiles)
    images_a_second = fast["logits"] / count
    share = (language + tower) * images_a_second / rate
    print(
        f"  operations of an image: {language / 1e12:.3f} T language, {tower / 1e12:.3f} T tower; "
        f"{language * images_a_second / 1e12:.1f} T/s language alone, {language * images_a_second / rate:.1%} of the "
        f"matrix rate"
    )
    times = fast["generated"] / slow
    say(f"{shape}:{count} generated ≥ {WANTED_GENERATED} × one by one", times >= WANTED_GENERATED, f"{times:.1f} ×")
    enough = share >= WANTED_OF_MATRIX_RATE
    say(f"{shape}:{count} logits ≥ {WANTED_OF_MATRIX_RATE:.0%} of the matrix rate", enough, f"{share:.1%}")
    print(f"  most memory held on the card: {most_memory() / 1e9:.1f} GB", flush=True)


def say(what: str, reached: bool, found: str) -> None:
    print(f"  {'yes' if reached else 'NO '}  {what}: {found}")


def measure_stages(backend: SharedAnswerer, content: bytes, asked: Sequence[Question]) -> tuple[int, str]:
    """Tokens of an image's beginning, and the milliseconds of each stage by itself, waited for."""
    import torch

    took: dict[str, float] = {}

    def lap(name: str, act: Callable[[], Any]) -> Any:
        for _ in range(2):
            synchronize()
            start = time.perf_counter()
            found = act()
            synchronize()
            took[name] = (time.perf_counter() - start) * 1000
        return found

    with torch.inference_mode():
        image = lap("prepared", lambda: next(backend.prepared([content])))
        beginning = lap("image and beginning", lambda: backend.shared(image))
        part = [(0, number, question) for number, question in enumerate(asked)]
        lap("questions", lambda: backend.first_logits([beginning], part))
    return beginning.length, ", ".join(f"{name} {each:.1f} ms" for name, each in took.items())


def most_memory() -> int:
    """Bytes."""
    import torch

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0


def read_shape(text: str) -> tuple[str, int]:
    shape, _, count = text.partition(":")
    return shape, int(count or 15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--shapes", nargs="+", type=read_shape, default=[("7B", 15)], help="such as 7B:15 13B:40")
    parser.add_argument("--images", type=int, default=40, help="per card and measurement")
    parser.add_argument("--baseline", type=int, default=1, help="images one by one")
    parser.add_argument("--written", type=int, default=8, help="tokens that an answer in words has")
    parser.add_argument("--edge", type=int, default=EDGE, help="pixels of an image's side")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="tiny models and images: tries the measurement itself")
    parser.add_argument("--exactness-only", action="store_true", help="only the tiny model: no card is needed")
    options = parser.parse_args()
    print(about())
    on = "spread over two cards, " if options.gpus > 1 else ""
    difference, alike = exactness(options.gpus)
    print(f"Tiny model in fp32: {on}probabilities differ by at most {difference:.1e} (wanted {NEAR:.0e}), ", end="")
    print(f"{alike:.0%} of the answers in words are the same (wanted 100%)", flush=True)
    if has_card():
        # Other kernels than in fp32: those that the figures below are of.
        difference, alike = exactness(1, "bf16")
        print(
            f"Tiny model in bf16: probabilities differ by at most {difference:.1e}, {alike:.0%} of the words are alike"
        )
    if options.exactness_only:
        return
    if options.tiny:
        options.images, options.edge = min(options.images, 4), min(options.edge, 96)
        options.shapes = [
            ("qwen-tiny" if shape.startswith("qwen") else "tiny", count) for shape, count in options.shapes
        ]
    rate = matrix_rate(512 if options.tiny else 8192, "fp32" if options.tiny else "bf16")
    print(f"Matrix products of this card: {rate / 1e12:.3g} T operations/s", flush=True)
    for shape, count in options.shapes:
        report(options, shape, count, rate)
        gc.collect()
        empty_cache()


if __name__ == "__main__":
    main()
