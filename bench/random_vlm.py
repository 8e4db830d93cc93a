"""A vision-language model of random weights in the shape of a published one, with a small tokenizer of its own."""

import json
from pathlib import Path
from typing import Any

from evaluation.backends.vlm.answering import SharedAnswerer
from evaluation.backends.vlm.backend import ImageAnswerer
from evaluation.backends.vlm.families import build_processor
from evaluation.backends.vlm.library import LibraryAnswerer
from evaluation.backends.vlm.tiling import Tiling, parse_tiling_config
from evaluation.contracts.backend import Question

END = "</s>"
PLACES = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
TEMPLATE = (
    "{% for message in messages %}{{ 'USER: ' }}{% for part in message['content'] %}"
    "{{ '<image> ' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endfor %}{{ ' ASSISTANT:' }}"
)
FILE = Path(__file__).resolve().parent.parent / "evaluation" / "prompts" / "questions.json"


# Sizes of language models as published: LLaVA-NeXT on Mistral 7B and on Vicuna 13B, Qwen2.5-VL 7B.
LANGUAGES = {
    "tiny": (64, 128, 2, 4, 2),
    "7B": (4096, 14336, 32, 32, 8),
    "13B": (5120, 13824, 40, 40, 40),
    "qwen7B": (3584, 18944, 28, 28, 4),
    "qwen-tiny": (64, 128, 2, 4, 2),
}
QWEN_MARKS = ("<|vision_start|>", "<|vision_end|>", "<|video_pad|>")
QWEN_TEMPLATE = TEMPLATE.replace("<image> ", "<|vision_start|><image><|vision_end|>")


def language_of(shape: str) -> dict[str, int]:
    """Sizes in the words of the library's configurations."""
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
    return dict(zip(names, LANGUAGES[shape], strict=True))


def questions(count: int = 15) -> tuple[Question, ...]:
    """The fifteen multiple-choice probes of the project, as they are put to the model, again where more are wanted."""
    probes = read_probes()
    return tuple(
        Question(
            f"{number // len(probes) or ''}{probes[number % len(probes)].text}", probes[number % len(probes)].letters
        )
        for number in range(count)
    )


def read_probes() -> tuple[Question, ...]:
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
    from transformers import CLIPVisionConfig, LlavaNextConfig, LlavaNextForConditionalGeneration, MistralConfig

    tower = (
        {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16}
        if shape != "tiny"
        else {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4}
    )
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(**tower, image_size=336, patch_size=14, projection_dim=tower["hidden_size"]),
        text_config=MistralConfig(
            **language_of(shape),
            vocab_size=32064,
            max_position_embeddings=32768,
            sliding_window=None,
        ),
        image_token_index=image_token,
        image_grid_pinpoints=PLACES,
    )
    return with_random_weights(LlavaNextForConditionalGeneration, config, precision)


def qwen_network(shape: str, precision: str, words: Any) -> Any:
    """The same for Qwen2.5-VL."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    language, tiny = language_of(shape), shape == "qwen-tiny"
    width = language["hidden_size"] // language["num_attention_heads"] // 8
    turns = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2 * width, width, width]}
    tower = {"hidden_size": 64, "intermediate_size": 128, "depth": 2, "num_heads": 4, "fullatt_block_indexes": [1]}
    ids = [words.convert_tokens_to_ids(mark) for mark in ("<image>", *QWEN_MARKS)]
    names = ("image_token_id", "vision_start_token_id", "vision_end_token_id", "video_token_id")
    config = Qwen2_5_VLConfig(
        text_config={**language, "vocab_size": 152064, "rope_parameters": turns},
        vision_config={**(tower if tiny else {}), "out_hidden_size": language["hidden_size"]},
        **dict(zip(names, ids, strict=True)),
    )
    return with_random_weights(Qwen2_5_VLForConditionalGeneration, config, precision)


def with_random_weights(kind: Any, config: Any, precision: str) -> Any:
    """Made where they will be used."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    before = torch.get_default_dtype()
    torch.set_default_dtype({"bf16": torch.bfloat16, "fp32": torch.float32}[precision])
    torch.manual_seed(0)
    try:
        with torch.device(device):
            return kind(config).eval()
    finally:
        torch.set_default_dtype(before)


def preparation() -> Tiling:
    mean = {"image_mean": [0.4815, 0.4578, 0.4082], "image_std": [0.2686, 0.2613, 0.2758]}
    return parse_tiling_config(
        {**mean, "size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}, PLACES
    )


def qwen_processor(words: Any) -> Any:
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessorPil

    words.add_special_tokens({"additional_special_tokens": ["<image>", *QWEN_MARKS]})
    words.image_token, words.video_token = "<image>", "<|video_pad|>"
    return build_processor(Qwen2_5_VLProcessor, Qwen2VLImageProcessorPil(), words, QWEN_TEMPLATE, {})


def answerer(shape: str, precision: str, written: int) -> SharedAnswerer:
    words = tokenizer()
    if shape.startswith("qwen"):
        processor = qwen_processor(words)
        qwen = LibraryAnswerer(qwen_network(shape, precision, words), processor, most_new_tokens=written)
        qwen.ends = frozenset  # type: ignore[method-assign]
        return qwen
    made = network(shape, precision, words.convert_tokens_to_ids("<image>"))
    backend = ImageAnswerer(made, words, TEMPLATE, preparation(), most_new_tokens=written)
    # Random weights may draw the token that ends an answer: then nothing would be written, and nothing measured.
    backend.ends = frozenset  # type: ignore[method-assign]
    return backend


def spread(network: Any) -> None:
    """Moves all but the first layer to the second card, the way large models are loaded."""
    from accelerate import dispatch_model

    first = ("model.vision_tower", "model.multi_modal_projector", "model.image_newline")
    language = [f"model.language_model.{name}" for name in ("embed_tokens", "rotary_emb", "layers.0")]
    rest = ["model.language_model.layers.1", "model.language_model.norm", "lm_head"]
    dispatch_model(network, {**dict.fromkeys([*first, *language], 0), **dict.fromkeys(rest, 1)})
