"""Tiny random vision-language models of six families, saved the way real ones are. Needs torch, not torchvision."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TOWER: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
LANGUAGE: dict[str, Any] = {**TOWER, "num_hidden_layers": 2, "num_key_value_heads": 2}
ROTATION = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
BEFORE = (
    "{% for message in messages %}{{ 'user: ' }}{% for part in message['content'] %}{% if part['type'] == 'image' %}"
)
AFTER = "{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}{{ '\nassistant:' if add_generation_prompt }}"


def byte_tokenizer(image: str, *more: str, bos: str = "", **named: str) -> Any:
    """Every byte is a token; `image` and `more` are special ones, `named` are those with a name of their own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={piece: number for number, piece in enumerate(pieces)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="</s>",
        pad_token="</s>",
        bos_token=bos or None,
        extra_special_tokens={**named},
    )
    tokenizer.add_special_tokens({"additional_special_tokens": [image, *more]}, replace_extra_special_tokens=False)
    tokenizer.chat_template = (f"{{{{ '{bos}' }}}}" if bos else "") + BEFORE + f"{{{{ '{image}' }}}}" + AFTER
    return tokenizer


def ids_of(tokenizer: Any, **named: str) -> dict[str, int]:
    return {name: tokenizer.convert_tokens_to_ids(token) for name, token in named.items()}


def qwen(folder: Path, name: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    import transformers

    tokenizer = byte_tokenizer(
        "<|image_pad|>",
        "<|vision_start|>",
        "<|vision_end|>",
        "<|video_pad|>",
    )
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "<|image_pad|>", "<|vision_start|><|image_pad|><|vision_end|>"
    )
    visions: dict[str, dict[str, Any]] = {
        "Qwen2": {"embed_dim": 32, "hidden_size": 32, "mlp_ratio": 2},
        "Qwen2_5_": {
            "hidden_size": 32,
            "intermediate_size": 64,
            "out_hidden_size": 32,
            "window_size": 16,
            "fullatt_block_indexes": [1],
        },
    }
    vision = visions[name]
    tokens = ids_of(
        tokenizer,
        image_token_id="<|image_pad|>",
        video_token_id="<|video_pad|>",
        vision_start_token_id="<|vision_start|>",
        vision_end_token_id="<|vision_end|>",
    )
    config = getattr(transformers, f"{name}VLConfig")(
        text_config={**LANGUAGE, "vocab_size": len(tokenizer), "rope_parameters": ROTATION},
        vision_config={**vision, "depth": 2, "num_heads": 4, "patch_size": 4},
        **tokens,
    )
    images = transformers.Qwen2VLImageProcessorPil(
        patch_size=4, size={"shortest_edge": 64, "longest_edge": 4096}, merge_size=2
    )
    return getattr(transformers, f"{name}VLForConditionalGeneration")(config), images, tokenizer, {}


def save_qwen2_vl(folder: Path) -> Any:
    return qwen(folder, "Qwen2")


def save_qwen2_5_vl(folder: Path) -> Any:
    return qwen(folder, "Qwen2_5_")


def save_mllama(folder: Path) -> Any:
    from transformers import MllamaConfig, MllamaForConditionalGeneration, MllamaImageProcessorPil

    tokenizer = byte_tokenizer("<|image|>", "<|python_tag|>", bos="<|begin_of_text|>")
    # The image's token is the last one, beyond those that the head writes.
    vision: dict[str, Any] = {
        **TOWER,
        "num_hidden_layers": 2,
        "num_global_layers": 1,
        "attention_heads": 4,
        "vision_output_dim": 64,
        "intermediate_layers_indices": [0],
        "image_size": 16,
        "patch_size": 4,
        "max_num_tiles": 4,
        "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
    }
    vision.pop("num_attention_heads")
    config = MllamaConfig(
        vision_config=vision,
        text_config={
            **LANGUAGE,
            "num_hidden_layers": 3,
            "vocab_size": len(tokenizer),
            "cross_attention_layers": [1],
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        **ids_of(tokenizer, image_token_index="<|image|>"),
    )
    network = MllamaForConditionalGeneration(config)
    for name, parameter in network.named_parameters():
        if "gate" in name:
            # As they begin, nothing of the image is let through.
            parameter.data.fill_(1.0)
    images = MllamaImageProcessorPil(size={"height": 16, "width": 16}, max_image_tiles=4)
    return network, images, tokenizer, {}


def save_llava_onevision(folder: Path) -> Any:
    from transformers import (
        LlavaOnevisionConfig,
        LlavaOnevisionForConditionalGeneration,
        LlavaOnevisionImageProcessorPil,
    )

    tokenizer = byte_tokenizer("<image>", "<video>")
    places = [[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]
    vision = {**TOWER, "model_type": "siglip_vision_model", "num_hidden_layers": 2, "image_size": 16, "patch_size": 4}
    config = LlavaOnevisionConfig(
        vision_config={**vision, "vision_use_head": False},
        text_config={**LANGUAGE, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        image_grid_pinpoints=places,
        **ids_of(tokenizer, image_token_index="<image>", video_token_index="<video>"),
    )
    images = LlavaOnevisionImageProcessorPil(size={"height": 16, "width": 16}, image_grid_pinpoints=places)
    more = {"num_image_tokens": 16, "vision_feature_select_strategy": "full"}
    return LlavaOnevisionForConditionalGeneration(config), images, tokenizer, more


def save_internvl(folder: Path) -> Any:
    from transformers import GotOcr2ImageProcessorPil, InternVLConfig, InternVLForConditionalGeneration

    tokenizer = byte_tokenizer(
        "<IMG_CONTEXT>",
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = InternVLConfig(
        vision_config={**TOWER, "num_hidden_layers": 2, "image_size": [16, 16], "patch_size": [4, 4]},
        text_config={**LANGUAGE, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        image_seq_length=4,
        tie_word_embeddings=False,
        **ids_of(tokenizer, image_token_id="<IMG_CONTEXT>"),
    )
    images = GotOcr2ImageProcessorPil(
        size={"height": 16, "width": 16}, crop_to_patches=True, min_patches=1, max_patches=6
    )
    return InternVLForConditionalGeneration(config), images, tokenizer, {"image_seq_length": 4}


def save_gemma3(folder: Path) -> Any:
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, Gemma3ImageProcessorPil

    tokenizer = byte_tokenizer(
        "<start_of_image>",
        bos="<bos>",
        boi_token="<start_of_image>",
        eoi_token="<end_of_image>",
        image_token="<image_soft_token>",
    )
    tokens = ids_of(
        tokenizer,
        boi_token_index="<start_of_image>",
        eoi_token_index="<end_of_image>",
        image_token_index="<image_soft_token>",
    )
    language = {**LANGUAGE, "num_hidden_layers": 3, "head_dim": 8, "query_pre_attn_scalar": 8}
    config = Gemma3Config(
        # The window is shorter than an image with its question: what is beyond it is not seen.
        text_config={
            **language,
            "vocab_size": len(tokenizer),
            "sliding_window": 24,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
        vision_config={**TOWER, "num_hidden_layers": 2, "image_size": 16, "patch_size": 4, "vision_use_head": False},
        mm_tokens_per_image=4,
        **tokens,
    )
    images = Gemma3ImageProcessorPil(size={"height": 16, "width": 16})
    return Gemma3ForConditionalGeneration(config), images, tokenizer, {"image_seq_length": 4}


FAMILIES: Mapping[str, Callable[[Path], tuple[Any, Any, Any, dict[str, Any]]]] = {
    "qwen2_vl": save_qwen2_vl,
    "qwen2_5_vl": save_qwen2_5_vl,
    "mllama": save_mllama,
    "llava_onevision": save_llava_onevision,
    "internvl": save_internvl,
    "gemma3": save_gemma3,
}


def save_tiny_vlm(folder: Path, family: str, *, seed: int = 0) -> Path:
    """A model of the family with its tokenizer, image processor and template."""
    import json

    import torch

    torch.manual_seed(seed)
    network, images, tokenizer, more = FAMILIES[family](folder)
    if family == "gemma3":
        # Begins as zeros: nothing of the image would be seen.
        torch.nn.init.normal_(network.model.multi_modal_projector.mm_input_projection_weight, std=0.2)
    network.generation_config.eos_token_id = tokenizer.eos_token_id
    for name, parameter in network.named_parameters():
        # Random weights as they come are nearly blind: every answer would be alike.
        parameter.data *= 4 if parameter.dim() > 1 and "norm" not in name else 1
    network.save_pretrained(folder)
    images.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if more:
        (folder / "processor_config.json").write_text(json.dumps(more))
    return folder
