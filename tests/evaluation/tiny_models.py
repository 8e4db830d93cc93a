"""Tiny random models that tests build and save, to be loaded the way real ones are. Needs torch."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluation.contracts.study import ModelData

WORDS = ("a", "photo", "of", "fresh", "dirty", "food", "weird", ".")


def make_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Letters as they are in CLIP's vocabulary, each also at the end of a word; no merges."""
    letters = "abcdefghijklmnopqrstuvwxyz.,:?!'0123456789"
    pieces = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    return {piece: number for number, piece in enumerate(pieces)}, []


def save_tokenizer(folder: Path) -> None:
    from transformers import CLIPTokenizer

    vocabulary, merges = make_vocabulary()
    CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77).save_pretrained(folder)


def save_siglip_tokenizer(folder: Path) -> int:
    """A SentencePiece vocabulary as SigLIP's, of letters, without merges; returns its size."""
    import sentencepiece
    from transformers import SiglipTokenizer

    stream = io.BytesIO()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'’é"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([f"{' '.join(letters)} {text}" for text in WORDS]),
        model_writer=stream,
        model_type="char",
        character_coverage=1.0,
        vocab_size=len(letters) + 4,
        hard_vocab_limit=False,
        pad_id=-1,
        bos_id=-1,
        eos_id=1,
        unk_id=2,
        add_dummy_prefix=False,
        minloglevel=2,
    )
    file = folder / "spiece.model"
    file.write_bytes(stream.getvalue())
    tokenizer = SiglipTokenizer(str(file))
    tokenizer.save_pretrained(folder)
    return int(tokenizer.vocab_size)


def save_gemma_tokenizer(folder: Path) -> int:
    """A tokenizer as the one beside SigLIP 2's weights: Gemma's, ended by <eos>; returns its size."""
    from transformers import GemmaTokenizer

    pieces = [
        "<pad>",
        "<eos>",
        "<bos>",
        "<unk>",
        "<mask>",
        "▁",
        *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,'",
    ]
    GemmaTokenizer(
        vocab={piece: number for number, piece in enumerate(pieces)},
        merges=[],
        add_bos_token=False,
        add_eos_token=True,
        padding_side="right",
        model_max_length=64,
    ).save_pretrained(folder)
    return len(pieces)


def save_clip(folder: Path, *, seed: int = 0) -> Path:
    """A CLIP of 32 pixels and 16 dimensions."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    torch.manual_seed(seed)
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    size = len(make_vocabulary()[0])
    ends = {"bos_token_id": size - 2, "eos_token_id": size - 1, "pad_token_id": size - 1}
    text = {**tower, "vocab_size": size, "max_position_embeddings": 77, **ends}
    vision = {**tower, "image_size": 32, "patch_size": 8}
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)).save_pretrained(folder)
    crop = {"height": 32, "width": 32}
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=crop).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def save_siglip(folder: Path, *, second: bool = False) -> Path:
    """A SigLIP of 32 pixels: both sides are resized, nothing is cropped; `second`: with the tokenizer of SigLIP 2."""
    import torch
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel

    torch.manual_seed(0)
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    size = save_gemma_tokenizer(folder) if second else save_siglip_tokenizer(folder)
    text = {**tower, "vocab_size": size, "max_position_embeddings": 64, "projection_size": 32}
    vision = {**tower, "image_size": 32, "patch_size": 8}
    SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
    SiglipImageProcessorPil(size={"height": 32, "width": 32}, resample=2 if second else 3).save_pretrained(folder)
    return folder


LLAVA_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] + ': ' }}{% for part in message['content'] %}"
    "{{ '<image>\n' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endfor %}"
    "{{ '\nassistant:' if add_generation_prompt }}"
)


def save_llava(folder: Path, *, seed: int = 0, language: str = "LlamaConfig", **of_language: object) -> Path:
    """A LLaVA-NeXT of tiles of 16 pixels: up to four tiles, 4 × 4 patches each, a language model with shared heads."""
    import torch
    import transformers
    from transformers import (
        CLIPVisionConfig,
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextImageProcessorPil,
    )

    torch.manual_seed(seed)
    tokenizer = letters_tokenizer()
    tokenizer.chat_template = LLAVA_TEMPLATE
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
    vision = CLIPVisionConfig(**tower, num_hidden_layers=3, image_size=16, patch_size=4, projection_dim=16)
    sizes = {"num_hidden_layers": 2, "num_key_value_heads": 2, "max_position_embeddings": 4096}
    words = getattr(transformers, language)(**tower, **sizes, vocab_size=len(tokenizer), **of_language)
    places = [[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]
    config = LlavaNextConfig(
        vision_config=vision,
        text_config=words,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=places,
    )
    network = LlavaNextForConditionalGeneration(config)
    network.generation_config.eos_token_id = tokenizer.eos_token_id
    for parameter in network.parameters():
        # Random weights as they come are nearly blind: every answer would be alike.
        parameter.data *= 4 if parameter.dim() > 1 else 1
    network.save_pretrained(folder)
    crop = {"height": 16, "width": 16}
    LlavaNextImageProcessorPil(size={"shortest_edge": 16}, crop_size=crop, image_grid_pinpoints=places).save_pretrained(
        folder
    )
    tokenizer.save_pretrained(folder)
    return folder


def letters_tokenizer() -> Any:
    """Every byte is a token, as in the byte-level tokenizers of language models before any merge."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={piece: number for number, piece in enumerate(pieces)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", pad_token="</s>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    return tokenizer


def save_stable_diffusion(folder: Path, *, checker: float | None = None, seed: int = 0) -> Path:
    """A Stable Diffusion of 32 pixels whose images differ by prompt and by seed.

    `checker`: the cosine with one concept from which on its safety checker flags an image; without it, it has none.
    """
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPImageProcessorPil, CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    torch.manual_seed(seed)
    vocabulary, merges = make_vocabulary()
    size = len(vocabulary)
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": size - 2, "eos_token_id": size - 1, "pad_token_id": size - 1}
    blocks = {"block_out_channels": (32, 32), "layers_per_block": 1, "norm_num_groups": 8}
    down, up = ("DownBlock2D", "CrossAttnDownBlock2D"), ("CrossAttnUpBlock2D", "UpBlock2D")
    unet = UNet2DConditionModel(
        sample_size=16, down_block_types=down, up_block_types=up, cross_attention_dim=32, attention_head_dim=8, **blocks
    )
    coders = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    StableDiffusionPipeline(
        vae=AutoencoderKL(latent_channels=4, **coders, **blocks),
        text_encoder=CLIPTextModel(CLIPTextConfig(vocab_size=size, max_position_embeddings=40, **tower, **ends)),
        tokenizer=CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=40),
        unet=unet,
        scheduler=DDIMScheduler(beta_schedule="scaled_linear", clip_sample=False, steps_offset=1),
        safety_checker=None if checker is None else make_safety_checker(checker),
        feature_extractor=CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        requires_safety_checker=checker is not None,
    ).save_pretrained(folder, safe_serialization=True)
    return folder


def make_safety_checker(threshold: float) -> Any:
    from diffusers.pipelines.stable_diffusion import StableDiffusionSafetyChecker
    from transformers import CLIPConfig

    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision = {**tower, "image_size": 32, "patch_size": 8}
    checker = StableDiffusionSafetyChecker(CLIPConfig(text_config=tower, vision_config=vision, projection_dim=16))
    checker.concept_embeds.data.uniform_(-1, 1)
    checker.concept_embeds_weights.data.fill_(2)
    checker.concept_embeds_weights.data[0] = threshold
    checker.special_care_embeds_weights.data.fill_(2)
    return checker


def model_at(folder: Path, role: str, backend: str, **parameters: object) -> ModelData:
    return ModelData(1, "tiny", role, backend, str(folder), "", parameters)


def make_image_bytes(
    width: int = 96, height: int = 64, *, seed: int = 0, form: str = "PNG", mode: str = "RGB"
) -> bytes:
    """Soft colours with grain, as a photograph has them."""
    random = np.random.default_rng(seed)
    small = Image.fromarray(random.integers(0, 256, (5, 7, 3), dtype=np.uint8))
    soft = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), dtype=np.int16)
    grain = random.integers(-20, 21, (height, width, 3))
    stream = io.BytesIO()
    image = Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8)).convert(mode)
    image.save(stream, form)
    return stream.getvalue()


def save_chat(folder: Path, *, seed: int = 0) -> Path:
    """A language model of 32 dimensions with a template for conversations."""
    import torch
    from transformers import CLIPTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    vocabulary, merges = make_vocabulary()
    size = len(vocabulary)
    ends = {"bos_token_id": size - 2, "eos_token_id": size - 1, "pad_token_id": size - 1}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 32, "intermediate_size": 64}
    LlamaForCausalLM(LlamaConfig(vocab_size=size, max_position_embeddings=256, **layers, **ends)).save_pretrained(
        folder
    )
    tokenizer = CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=200)
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    tokenizer.save_pretrained(folder)
    return folder
