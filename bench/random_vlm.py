"""A vision-language model of random weights in the shape of a published one, with a small tokenizer of its own."""

import json
from pathlib import Path
from typing import Any

from evaluation.backends.vlm.backend import ImageAnswerer
from evaluation.backends.vlm.tiling import Tiling, parse_tiling_config
from evaluation.contracts.backend import Question

END = "</s>"
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
    return parse_tiling_config(
        {**mean, "size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}, PLACES
    )


def answerer(shape: str, precision: str, written: int) -> ImageAnswerer:
    words = tokenizer()
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
