"""How many questions about images a second a vision-language model answers, against the published way in one run.

    python -m bench.vqa_throughput [--images 40] [--gpus 1]

The published way gives the model the image anew with every question and lets it write an answer. Random weights in
the shape of LLaVA-NeXT with a language model of 7 billion parameters: speed does not depend on their values. They never
end an answer, so the number of written tokens is fixed and said.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.clip_throughput import images
from bench.multi_gpu import about, over_cards
from bench.random_vlm import answerer, questions, spread
from evaluation.backends.image_decode import decode_image_bytes
from evaluation.backends.vlm.backend import ImageAnswerer, of_letters
from evaluation.contracts.backend import Asked, Question, Reading

WANTED = 25
NEAR = 1e-4


def anew(backend: ImageAnswerer, image: bytes, question: Question, written: int) -> np.ndarray:
    """The published way: image and question together, each time; the probabilities of the letters at the end."""
    import torch

    pixels = torch.from_numpy(decode_image_bytes(image).copy()).to(backend.device)
    tiles = backend.tiling.tiles(pixels)[None].to(backend.network.dtype)
    sizes = torch.tensor([pixels.shape[:2]])
    before, after = backend.wording.before, backend.wording.after(question.text)
    count = image_tokens(backend, tiles, sizes)
    ids = torch.tensor([[*before, *[backend.wording.image_token] * count, *after]], device=backend.device)
    given = {"input_ids": ids, "pixel_values": tiles, "image_sizes": sizes, "attention_mask": torch.ones_like(ids)}
    with torch.inference_mode():
        if written:
            backend.network.generate(**given, do_sample=False, max_new_tokens=written, min_new_tokens=written)
            return np.zeros(0)
        row = backend.network(**given, logits_to_keep=1).logits[0, -1].float().cpu()
    return np.array(of_letters(row, backend.wording.ways(question)))


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


def one_by_one(backend: ImageAnswerer, contents: Sequence[bytes], written: int) -> float:
    """Questions a second the published way."""
    asked = questions()
    anew(backend, contents[0], asked[0], written)
    start = time.perf_counter()
    for content in contents:
        for question in asked:
            anew(backend, content, question, written)
    return len(contents) * len(asked) / (time.perf_counter() - start)


def together(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Questions and seconds of one process, the image's beginning computed once."""
    backend = answerer("7B", "bf16", arguments["written"])
    return timed(backend, arguments["contents"], arguments["reading"], ready)


def timed(
    backend: ImageAnswerer, contents: Sequence[bytes], reading: Reading, ready: Callable[[], None] = lambda: None
) -> tuple[int, float]:
    asked = [Asked(content, questions()) for content in contents]
    list(backend.answer(asked[:2], reading))
    ready()
    start = time.perf_counter()
    answers = list(backend.answer(asked, reading))
    return sum(map(len, answers)), time.perf_counter() - start


def exactness(cards: int) -> float:
    """The largest difference of any probability from asking one by one on one card, on a tiny model in fp32.

    On several cards the tiny model is spread over two, as a large one would be.
    """
    backend = answerer("tiny", "fp32", 1)
    for parameter in backend.network.parameters():
        parameter.data *= 4 if parameter.dim() > 1 else 1
    contents, asked = images("PNG", 2, 600), questions()
    alone = [[anew(backend, content, question, 0) for question in asked] for content in contents]
    if cards > 1:
        spread(backend.network)
    found = backend.answer([Asked(content, asked) for content in contents], "logits")
    return max(
        float(np.abs(np.array(answer.probabilities) - wanted).max())
        for answers, row in zip(found, alone, strict=True)
        for answer, wanted in zip(answers, row, strict=True)
    )


def report(options: argparse.Namespace) -> None:
    contents = images("PNG", options.images, 1024)
    backend = answerer("7B", "bf16", options.written)
    few = contents[: options.baseline]
    slow = one_by_one(backend, few, options.written)
    tokens = next(iter(LENGTHS.values()))
    lengths = [len(backend.wording.after(question.text)) for question in questions()]
    print(f"Images of {tokens} tokens, {len(lengths)} questions of {min(lengths)} to {max(lengths)} tokens, bf16")
    print(f"  one by one, {options.written} tokens written: {slow:6.1f} questions/s")
    single = one_by_one(backend, few, 1)
    print(f"  one by one, 1 token written:  {single:6.1f} questions/s")
    logits = one_by_one(backend, few, 0)
    print(f"  one by one, logits read:      {logits:6.1f} questions/s")
    readings: tuple[Reading, ...] = ("logits", "generated")
    for reading in readings:
        count, seconds = timed(backend, contents, reading)
        fast = count / seconds
        print(
            f"  beginning shared, {reading}: {fast:6.1f} questions/s on one card, {fast / slow:5.1f} × the published "
            f"way (wanted {WANTED} for logits), {fast / single:5.1f} × with 1 token written"
        )
        if options.gpus > 1:
            arguments = {"written": options.written, "contents": contents, "reading": reading}
            all_of_them = over_cards(options.gpus, together, arguments)
            print(f"    on {options.gpus} cards: {all_of_them:6.1f} questions/s, {all_of_them / fast:4.2f} × one card")
    print(f"Most memory held on the card: {most_memory() / 1e9:.1f} GB")


def most_memory() -> int:
    """Bytes."""
    import torch

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--images", type=int, default=40, help="per card and measurement, 15 questions each")
    parser.add_argument("--baseline", type=int, default=2, help="images one by one")
    parser.add_argument("--written", type=int, default=8, help="tokens that an answer in words has")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--exactness-only", action="store_true", help="only the tiny model: no card is needed")
    options = parser.parse_args()
    print(about())
    on = "spread over two cards, " if options.gpus > 1 else ""
    difference = exactness(options.gpus)
    print(f"Tiny model in fp32: {on}probabilities differ by at most {difference:.1e} (wanted {NEAR:.0e})", flush=True)
    if not options.exactness_only:
        LENGTHS.clear()
        report(options)


if __name__ == "__main__":
    main()
