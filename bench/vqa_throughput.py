"""How many questions about pictures a second a vision-language model answers, against the published way in one run.

    python -m bench.vqa_throughput [--pictures 20] [--gpus 1]

The published way gives the model the picture anew with every question and lets it write an answer. Random weights in
the shape of LLaVA-NeXT with a language model of 7 billion parameters: speed does not depend on their values. They never
end an answer, so the number of written tokens is fixed and said.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.cards import about, over_cards
from bench.clip_throughput import pictures
from evaluation.backends.base import Asked, Question, Reading
from evaluation.backends.decoding import decoded
from evaluation.backends.tiling import Tiling, tiling
from evaluation.backends.vlm import PictureAnswerer, of_letters

WANTED = 25
END = "</s>"
NEAR = 1e-4
PLACES = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
TEMPLATE = (
    "{% for message in messages %}{{ 'USER: ' }}{% for part in message['content'] %}"
    "{{ '<image> ' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endfor %}{{ ' ASSISTANT:' }}"
)
FILE = Path(__file__).resolve().parent.parent / "evaluation" / "prompts" / "questions.json"


def questions() -> tuple[Question, ...]:
    """The fifteen multiple-choice probes of the project, as they are put to the model."""
    found = []
    for row in json.loads(FILE.read_text(encoding="utf-8"))[0]["questions"]:
        if choices := row["choices"]:
            options = " ".join(f"{letter}: {option}" for letter, option in choices.items())
            text = f"Question: {row['text']}. Choices: {options}. "
            end = "Please respond with the letter corresponding to your choice. Answer:"
            found.append(Question(text + end, tuple(choices)))
    return tuple(found)


def tokenizer() -> Any:
    """Trained on the questions, so that a word is a token or two, as in the tokenizers of language models."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=2000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator([question.text for question in questions()] * 20, trainer)
    found = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=END)
    found.add_special_tokens({"additional_special_tokens": ["<image>"]})
    return found


def network(shape: str, precision: str, image_token: int) -> Any:
    """Random weights, made where they will be used."""
    import torch
    from transformers import CLIPVisionConfig, LlavaNextConfig, LlavaNextForConditionalGeneration, MistralConfig

    large = shape == "7B"
    tower = (
        {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16}
        if large
        else {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4}
    )
    language = (
        {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32}
        if large
        else {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    )
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(**tower, image_size=336, patch_size=14, projection_dim=tower["hidden_size"]),
        text_config=MistralConfig(
            **language,
            num_key_value_heads=8 if large else 2,
            vocab_size=32064,
            max_position_embeddings=32768,
            sliding_window=None,
        ),
        image_token_index=image_token,
        image_grid_pinpoints=PLACES,
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    before = torch.get_default_dtype()
    torch.set_default_dtype({"bf16": torch.bfloat16, "fp32": torch.float32}[precision])
    torch.manual_seed(0)
    try:
        with torch.device(device):
            return LlavaNextForConditionalGeneration(config).eval()
    finally:
        torch.set_default_dtype(before)


def preparation() -> Tiling:
    mean = {"image_mean": [0.4815, 0.4578, 0.4082], "image_std": [0.2686, 0.2613, 0.2758]}
    return tiling({**mean, "size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}, PLACES)


def answerer(shape: str, precision: str, written: int) -> PictureAnswerer:
    words = tokenizer()
    made = network(shape, precision, words.convert_tokens_to_ids("<image>"))
    backend = PictureAnswerer(made, words, TEMPLATE, preparation(), most_new_tokens=written)
    # Random weights may draw the token that ends an answer: then nothing would be written, and nothing measured.
    backend.ends = frozenset  # type: ignore[method-assign, assignment]
    return backend


def anew(backend: PictureAnswerer, picture: bytes, question: Question, written: int) -> np.ndarray:
    """The published way: picture and question together, each time; the probabilities of the letters at the end."""
    import torch

    pixels = torch.from_numpy(decoded(picture).copy()).to(backend.device)
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


def image_tokens(backend: PictureAnswerer, tiles: Any, sizes: Any) -> int:
    """How many tokens a picture of this size is; known after the first, as a processor knows it."""
    import torch

    size = (int(sizes[0, 0]), int(sizes[0, 1]))
    if size not in LENGTHS:
        with torch.inference_mode():
            found = backend.network.model.get_image_features(pixel_values=tiles, image_sizes=sizes)
        LENGTHS[size] = len(getattr(found, "pooler_output", found)[0])
    return LENGTHS[size]


def one_by_one(backend: PictureAnswerer, contents: Sequence[bytes], written: int) -> float:
    """Questions a second the published way."""
    asked = questions()
    anew(backend, contents[0], asked[0], written)
    start = time.perf_counter()
    for content in contents:
        for question in asked:
            anew(backend, content, question, written)
    return len(contents) * len(asked) / (time.perf_counter() - start)


def together(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Questions and seconds of one process, the picture's beginning computed once."""
    backend = answerer("7B", "bf16", arguments["written"])
    return timed(backend, arguments["contents"], arguments["reading"], ready)


def timed(
    backend: PictureAnswerer, contents: Sequence[bytes], reading: Reading, ready: Callable[[], None] = lambda: None
) -> tuple[int, float]:
    asked = [Asked(content, questions()) for content in contents]
    list(backend.answer(asked[:2], reading))
    ready()
    start = time.perf_counter()
    answers = list(backend.answer(asked, reading))
    return sum(map(len, answers)), time.perf_counter() - start


def exactness() -> float:
    """The largest difference of any probability from asking one by one, on a tiny model in fp32."""
    backend = answerer("tiny", "fp32", 1)
    for parameter in backend.network.parameters():
        parameter.data *= 4 if parameter.dim() > 1 else 1
    worst = 0.0
    for content in pictures("PNG", 2, 600):
        [found] = backend.answer([Asked(content, questions())], "logits")
        for question, answer in zip(questions(), found, strict=True):
            difference = np.abs(np.array(answer.probabilities) - anew(backend, content, question, 0))
            worst = max(worst, float(difference.max()))
    return worst


def report(options: argparse.Namespace) -> None:
    contents = pictures("PNG", options.pictures, 1024)
    backend = answerer("7B", "bf16", options.written)
    slow = one_by_one(backend, contents[: options.baseline], options.written)
    tokens = next(iter(LENGTHS.values()))
    lengths = [len(backend.wording.after(question.text)) for question in questions()]
    print(f"Pictures of {tokens} tokens, {len(lengths)} questions of {min(lengths)} to {max(lengths)} tokens, bf16")
    print(f"  one by one, {options.written} tokens written: {slow:6.1f} questions/s")
    single = one_by_one(backend, contents[: options.baseline], 1)
    print(f"  one by one, 1 token written:  {single:6.1f} questions/s")
    logits = one_by_one(backend, contents[: options.baseline], 0)
    print(f"  one by one, logits read:      {logits:6.1f} questions/s")
    readings: tuple[Reading, ...] = ("logits", "generated")
    for reading in readings:
        arguments = {"written": options.written, "contents": contents, "reading": reading}
        if options.gpus == 1:
            count, seconds = timed(backend, contents, reading)
            fast = count / seconds
        else:
            fast = over_cards(options.gpus, together, arguments)
        print(
            f"  beginning shared, {reading}: {fast:6.1f} questions/s on {options.gpus} card(s), {fast / slow:5.1f} × "
            f"the published way (wanted {WANTED} for logits), {fast / single:5.1f} × with 1 token written"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=20, help="per card and measurement, 15 questions each")
    parser.add_argument("--baseline", type=int, default=2, help="pictures one by one")
    parser.add_argument("--written", type=int, default=8, help="tokens that an answer in words has")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--exactness-only", action="store_true", help="only the tiny model: no card is needed")
    options = parser.parse_args()
    print(about())
    print(f"Tiny model in fp32: probabilities differ by at most {exactness():.1e} (wanted {NEAR:.0e})")
    if not options.exactness_only:
        LENGTHS.clear()
        report(options)


if __name__ == "__main__":
    main()
