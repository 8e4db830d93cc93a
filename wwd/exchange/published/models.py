"""The models behind the published data. Their images, vectors and answers were made elsewhere."""

from collections.abc import Mapping
from pathlib import Path

from evaluation.models import Model, Role
from evaluation.readers.image_decode import IMPORTED
from wwd.exchange.published.source import Report
from wwd.exchange.published.writing import insert_new

# Spelling in the reviews → slug, which is also the folder's name in the embeddings.
GENERATORS: Mapping[str, str] = {"Dalle2": "dalle2", "Dalle3": "dalle3", "Stable Diffusion": "sd21"}
IDENTIFIERS: Mapping[str, str] = {
    "dalle2": "dall-e-2",
    "dalle3": "dall-e-3",
    "sd21": "stabilityai/stable-diffusion-2-1",
}
# Name in the files of answers → slug.
ANSWERERS: Mapping[str, str] = {"gpt35": "gpt-3.5", "llama3-8B": "llama-3-8b", "llama3-70B": "llama-3-70b"}
ANSWERER_TITLES: Mapping[str, tuple[str, str]] = {
    "gpt-3.5": ("GPT 3.5", "gpt-3.5-turbo"),
    "llama-3-8b": ("Llama 3 8B", "meta-llama/Meta-Llama-3-8B-Instruct"),
    "llama-3-70b": ("Llama 3 70B", "meta-llama/Meta-Llama-3-70B-Instruct"),
}
ENCODER = "clip-vit-base-patch32"
# Nobody said how the authors decoded their images.
PREPROCESSING = IMPORTED


def published_models() -> list[Model]:
    """Generators cannot be asked here; the encoder knows the vectors that were imported."""
    generators = [
        Model(slug=slug, title=title, role=Role.IMAGE_GENERATOR, backend="import", identifier=IDENTIFIERS[slug])
        for title, slug in GENERATORS.items()
    ]
    encoder = Model(
        slug=ENCODER,
        title="CLIP ViT-B/32",
        role=Role.ENCODER,
        backend="stored",
        identifier=f"openai/{ENCODER}",
        parameters={"preprocessing": PREPROCESSING},
    )
    answerers = [
        Model(slug=slug, title=title, role=Role.CHAT, backend="import", identifier=identifier)
        for slug, (title, identifier) in ANSWERER_TITLES.items()
    ]
    return [*generators, encoder, *answerers]


def import_models(folder: Path, report: Report) -> None:
    """Adds the models that are missing; the folder says nothing about them but their names."""
    same = ("role", "identifier")
    insert_new(Model.objects.all(), published_models(), "slug", same, report.count("models"), "models")
