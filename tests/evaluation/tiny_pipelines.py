"""Tiny random text-to-image pipelines, built and saved as their makers save them, one builder for each family."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.evaluation.tiny_models import letters_tokenizer, make_vocabulary, save_stable_diffusion

TOWER = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
BLOCKS = {"block_out_channels": (32, 32), "layers_per_block": 1, "norm_num_groups": 8}
WIDTH = 32
# How loud what was attended to is in a block, and what it becomes.
LOUD = ("_mod.1.", ".norm1.linear.", ".norm1_context.linear.", ".norm.linear.", "caption_projection.")


def vae(halvings: int = 1, **more: Any) -> Any:
    """A decoder; with one halving two pixels of a side for each cell."""
    from diffusers import AutoencoderKL

    blocks = halvings + 1
    coders = {"down_block_types": ("DownEncoderBlock2D",) * blocks, "up_block_types": ("UpDecoderBlock2D",) * blocks}
    wide = {**BLOCKS, "block_out_channels": (32,) * blocks}
    return AutoencoderKL(latent_channels=4, **coders, **wide, **more)


def clip_tokenizer() -> Any:
    from transformers import CLIPTokenizer

    vocabulary, merges = make_vocabulary()
    return CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)


def clip(*, projected: bool = False) -> Any:
    """The text side of a CLIP as pipelines hold it."""
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    size = len(make_vocabulary()[0])
    ends = {"bos_token_id": size - 2, "eos_token_id": size - 1, "pad_token_id": size - 1}
    config = CLIPTextConfig(vocab_size=size, max_position_embeddings=77, projection_dim=WIDTH, **TOWER, **ends)
    return CLIPTextModelWithProjection(config) if projected else CLIPTextModel(config)


def t5_tokenizer() -> Any:
    from transformers import T5Tokenizer

    pieces = ["<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,'"]
    return T5Tokenizer(vocab=[(piece, -float(number > 2)) for number, piece in enumerate(pieces)], extra_ids=0)


def t5(width: int = WIDTH) -> Any:
    from transformers import T5Config, T5EncoderModel

    sizes = {"d_model": width, "d_kv": 8, "d_ff": WIDTH, "num_layers": 1, "num_heads": 2}
    return T5EncoderModel(T5Config(vocab_size=len(t5_tokenizer()), **sizes))


def flow() -> Any:
    from diffusers import FlowMatchEulerDiscreteScheduler

    return FlowMatchEulerDiscreteScheduler()


def stable_diffusion_xl() -> Any:
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline, UNet2DConditionModel

    unet = UNet2DConditionModel(
        sample_size=16,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=2 * WIDTH,
        attention_head_dim=8,
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=WIDTH + 6 * 8,
        **BLOCKS,
    )
    return StableDiffusionXLPipeline(
        vae=vae(),
        text_encoder=clip(),
        text_encoder_2=clip(projected=True),
        tokenizer=clip_tokenizer(),
        tokenizer_2=clip_tokenizer(),
        unet=unet,
        scheduler=EulerDiscreteScheduler(beta_schedule="scaled_linear", steps_offset=1),
        add_watermarker=False,
    )


def stable_diffusion_3(*, with_t5: bool = True) -> Any:
    from diffusers import SD3Transformer2DModel, StableDiffusion3Pipeline

    transformer = SD3Transformer2DModel(
        sample_size=16,
        patch_size=2,
        in_channels=4,
        out_channels=4,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        caption_projection_dim=WIDTH,
        joint_attention_dim=2 * WIDTH,
        pooled_projection_dim=2 * WIDTH,
        pos_embed_max_size=16,
    )
    return StableDiffusion3Pipeline(
        transformer=transformer,
        scheduler=flow(),
        vae=vae(shift_factor=0.06, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=clip(projected=True),
        tokenizer=clip_tokenizer(),
        text_encoder_2=clip(projected=True),
        tokenizer_2=clip_tokenizer(),
        text_encoder_3=t5(2 * WIDTH) if with_t5 else None,
        tokenizer_3=t5_tokenizer() if with_t5 else None,
    )


def flux() -> Any:
    from diffusers import FluxPipeline, FluxTransformer2DModel

    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=WIDTH,
        pooled_projection_dim=WIDTH,
        guidance_embeds=True,
        axes_dims_rope=(4, 4, 8),
    )
    return FluxPipeline(
        scheduler=flow(),
        vae=vae(shift_factor=0.1, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=clip(),
        tokenizer=clip_tokenizer(),
        text_encoder_2=t5(),
        tokenizer_2=t5_tokenizer(),
        transformer=transformer,
    )


def pixart(*, sigma: bool) -> Any:
    import diffusers

    transformer = diffusers.PixArtTransformer2DModel(
        sample_size=16,
        patch_size=2,
        in_channels=4,
        out_channels=8,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        cross_attention_dim=WIDTH,
        caption_channels=WIDTH,
        num_embeds_ada_norm=1000,
        use_additional_conditions=False,
    )
    kind = diffusers.PixArtSigmaPipeline if sigma else diffusers.PixArtAlphaPipeline
    return kind(
        tokenizer=t5_tokenizer(),
        text_encoder=t5(),
        vae=vae(),
        transformer=transformer,
        scheduler=diffusers.DPMSolverMultistepScheduler(),
    )


def qwen_image() -> Any:
    from diffusers import AutoencoderKLQwenImage, QwenImagePipeline, QwenImageTransformer2DModel
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    tokenizer = letters_tokenizer()
    ends = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    words = {
        **TOWER,
        "num_key_value_heads": 2,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 2048,
        "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0},
        **ends,
    }
    seen = {"depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "out_hidden_size": 32}
    config = Qwen2_5_VLConfig(
        text_config=words, vision_config=seen, image_token_id=2, video_token_id=3, vision_start_token_id=4, **ends
    )
    transformer = QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=WIDTH,
        axes_dims_rope=(4, 6, 6),
    )
    return QwenImagePipeline(
        scheduler=flow(),
        vae=AutoencoderKLQwenImage(
            base_dim=16,
            z_dim=4,
            dim_mult=[1, 2],
            num_res_blocks=1,
            temperal_downsample=[False],
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ),
        text_encoder=Qwen2_5_VLForConditionalGeneration(config),
        tokenizer=tokenizer,
        transformer=transformer,
    )


def latent_consistency() -> Any:
    """The network of Stable Diffusion that is told its guidance."""
    from diffusers import LatentConsistencyModelPipeline, LCMScheduler, UNet2DConditionModel

    unet = UNet2DConditionModel(
        sample_size=16,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=WIDTH,
        attention_head_dim=8,
        time_cond_proj_dim=32,
        **BLOCKS,
    )
    return LatentConsistencyModelPipeline(
        vae=vae(),
        text_encoder=clip(),
        tokenizer=clip_tokenizer(),
        unet=unet,
        scheduler=LCMScheduler(beta_schedule="scaled_linear", original_inference_steps=50),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def chroma() -> Any:
    from diffusers import ChromaPipeline, ChromaTransformer2DModel

    transformer = ChromaTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=WIDTH,
        axes_dims_rope=(4, 4, 8),
        approximator_num_channels=16,
        approximator_hidden_dim=32,
        approximator_layers=1,
    )
    return ChromaPipeline(
        scheduler=flow(),
        vae=vae(shift_factor=0.1, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=t5(),
        tokenizer=t5_tokenizer(),
        transformer=transformer,
    )


def aura_flow() -> Any:
    from diffusers import AuraFlowPipeline, AuraFlowTransformer2DModel
    from transformers import UMT5Config, UMT5EncoderModel

    sizes = {"d_model": WIDTH, "d_kv": 8, "d_ff": WIDTH, "num_layers": 1, "num_heads": 2}
    transformer = AuraFlowTransformer2DModel(
        sample_size=16,
        patch_size=2,
        in_channels=4,
        num_mmdit_layers=1,
        num_single_dit_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=WIDTH,
        caption_projection_dim=WIDTH,
        out_channels=4,
        pos_embed_max_size=256,
    )
    return AuraFlowPipeline(
        tokenizer=t5_tokenizer(),
        text_encoder=UMT5EncoderModel(UMT5Config(vocab_size=len(t5_tokenizer()), **sizes)),
        vae=vae(),
        transformer=transformer,
        scheduler=flow(),
    )


def gemma(tokenizer: Any) -> Any:
    from transformers import Gemma2Config, Gemma2Model

    sizes = {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 2048}
    return Gemma2Model(Gemma2Config(vocab_size=len(tokenizer), **TOWER, **sizes, bos_token_id=0, eos_token_id=1))


def lumina_2() -> Any:
    from diffusers import Lumina2Pipeline, Lumina2Transformer2DModel

    tokenizer = letters_tokenizer()
    transformer = Lumina2Transformer2DModel(
        sample_size=16,
        patch_size=2,
        in_channels=4,
        hidden_size=WIDTH,
        num_layers=1,
        num_refiner_layers=1,
        num_attention_heads=2,
        num_kv_heads=2,
        multiple_of=16,
        axes_dim_rope=(4, 6, 6),
        axes_lens=(300, 32, 32),
        cap_feat_dim=WIDTH,
    )
    return Lumina2Pipeline(
        transformer=transformer,
        scheduler=flow(),
        # The pipeline takes it for granted that a cell is eight pixels.
        vae=vae(3, shift_factor=0.1),
        text_encoder=gemma(tokenizer),
        tokenizer=tokenizer,
    )


def sana() -> Any:
    from diffusers import AutoencoderDC, DPMSolverMultistepScheduler, SanaPipeline, SanaTransformer2DModel

    tokenizer = letters_tokenizer()
    transformer = SanaTransformer2DModel(
        in_channels=4,
        out_channels=4,
        num_attention_heads=2,
        attention_head_dim=16,
        num_layers=1,
        num_cross_attention_heads=2,
        cross_attention_head_dim=16,
        cross_attention_dim=WIDTH,
        caption_channels=WIDTH,
        sample_size=16,
    )
    decoder = AutoencoderDC(
        latent_channels=4,
        attention_head_dim=8,
        encoder_block_types=("ResBlock", "EfficientViTBlock"),
        decoder_block_types=("ResBlock", "EfficientViTBlock"),
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        encoder_qkv_multiscales=((), (5,)),
        decoder_qkv_multiscales=((), (5,)),
        encoder_layers_per_block=(1, 1),
        decoder_layers_per_block=(1, 1),
        upsample_block_type="interpolate",
        downsample_block_type="stride_conv",
        decoder_act_fns="silu",
    )
    return SanaPipeline(
        tokenizer=tokenizer,
        text_encoder=gemma(tokenizer),
        vae=decoder,
        transformer=transformer,
        scheduler=DPMSolverMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0),
    )


def z_image() -> Any:
    from diffusers import ZImagePipeline, ZImageTransformer2DModel
    from transformers import Qwen3Config, Qwen3Model

    tokenizer = letters_tokenizer()
    tokenizer.chat_template = "{% for message in messages %}user: {{ message['content'] }}\n{% endfor %}"
    sizes = {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 2048}
    words = {**TOWER, "num_hidden_layers": 2}
    transformer = ZImageTransformer2DModel(
        in_channels=4,
        dim=WIDTH,
        n_layers=1,
        n_refiner_layers=1,
        n_heads=2,
        n_kv_heads=2,
        cap_feat_dim=WIDTH,
        axes_dims=[4, 6, 6],
        axes_lens=[1024, 64, 64],
    )
    return ZImagePipeline(
        scheduler=flow(),
        vae=vae(shift_factor=0.1),
        text_encoder=Qwen3Model(Qwen3Config(vocab_size=len(tokenizer), **words, **sizes)),
        tokenizer=tokenizer,
        transformer=transformer,
    )


PIPELINES: Mapping[str, Callable[[], Any]] = {
    "StableDiffusionXLPipeline": stable_diffusion_xl,
    "StableDiffusion3Pipeline": stable_diffusion_3,
    "FluxPipeline": flux,
    "PixArtAlphaPipeline": lambda: pixart(sigma=False),
    "PixArtSigmaPipeline": lambda: pixart(sigma=True),
    "LatentConsistencyModelPipeline": latent_consistency,
    "ChromaPipeline": chroma,
    "AuraFlowPipeline": aura_flow,
    "Lumina2Pipeline": lumina_2,
    "SanaPipeline": sana,
    "ZImagePipeline": z_image,
    "QwenImagePipeline": qwen_image,
}


def save_pipeline(name: str, folder: Path) -> Path:
    """A pipeline of this family whose images differ by prompt and by seed."""
    import torch

    if name == "StableDiffusionPipeline":
        return save_stable_diffusion(folder)
    torch.manual_seed(0)
    made = PIPELINES[name]()
    shaken(made)
    made.save_pretrained(folder, safe_serialization=True)
    return folder


def shaken(pipeline: Any) -> None:
    """Gives weights that begin at zero something to say, and prompts a louder voice."""
    for part in pipeline.components.values():
        for name, parameter in part.named_parameters() if hasattr(part, "parameters") else ():
            if parameter.dim() > 1 and not parameter.any():
                parameter.data.normal_(std=0.1)
            if any(loud in name or name.startswith(loud) for loud in LOUD):
                parameter.data *= 20
