"""The models of `bench.worker`: of random weights, loaded once a process, so that both ways ask the same one.

Everything of the project is found by name here, since `--baseline` measures older commits with other names.
"""

import json
import os
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any, cast

from django.utils.module_loading import import_string

BACKENDS = ("evaluation.registry.backend_table.BACKENDS", "evaluation.backends.BACKENDS")
CREATE_RUN = ("evaluation.runner.create_run",)
PROCESS_RUN = ("evaluation.runner.process_run", "evaluation.runner.work")
PATH_OF = ("evaluation.content_store.path_of", "evaluation.files.path_of")
MODEL_DATA = ("evaluation.runner.catalogue.model_data", "evaluation.catalogue.model_data")
IMAGE_REQUEST = ("evaluation.contracts.backend.ImageRequest", "evaluation.backends.base.ImageRequest")
ASKED = ("evaluation.contracts.backend.Asked", "evaluation.backends.base.Asked")
QUESTION_OF = ("evaluation.studies.stereotypes.study.question_of", "evaluation.studies.stereotypes.question_of")
ENCODER = ("evaluation.backends.clip.ClipEncoder",)
GENERATOR = ("evaluation.backends.diffusion.DiffusersPipeline", "evaluation.backends.diffusion.StableDiffusion")
ANSWERER = ("evaluation.backends.vlm.backend.VisionLanguageModel", "evaluation.backends.vlm.VisionLanguageModel")
IMAGE_RESULT = ("evaluation.contracts.study.ImageResult", "evaluation.studies.base.ImageResult")
RESULT = ("evaluation.contracts.study.Result", "evaluation.studies.base.Result")
# The model that draws nothing. Its row names the folder of another one, since weights must be there.
READY = "bench-ready"
WRITTEN = 8
held: dict[str, Any] = {}


def find_first(names: Sequence[str]) -> Any:
    """What the first of these names that exists stands for."""
    for name in names:
        try:
            return import_string(name)
        except ImportError as error:
            missing = error
    raise missing


def hold(name: str, make: Callable[[], Any]) -> Any:
    if name not in held:
        held[name] = make()
    return held[name]


def load_encoder(model: Any) -> Any:
    return hold(model.slug, lambda: find_first(ENCODER)(model))


def load_generator(model: Any) -> Any:
    if model.slug == READY:
        return hold(model.slug, Ready)
    return hold(model.slug, lambda: find_first(GENERATOR)(model))


def load_answerer(model: Any) -> Any:
    def make() -> Any:
        if json.loads(os.environ["BENCH_WORKER"])["tiny"]:
            return find_first(ANSWERER)(model)
        from bench.random_vlm import answerer

        return answerer("7B", "bf16", WRITTEN)

    return hold(model.slug, make)


load_answerer.readings = ("generated", "logits")  # type: ignore[attr-defined]


class Ready:
    """Gives images that were drawn before in turn, with their pixels where the project takes them."""

    def __init__(self) -> None:
        self.contents: Sequence[bytes] = []
        self.pixels: Sequence[Any] = []
        self.given = 0

    def generate(self, requests: Sequence[Any]) -> Iterator[Any]:
        image_result, result = find_first(IMAGE_RESULT), find_first(RESULT)
        for request in requests:
            place, self.given = self.given % len(self.contents), self.given + 1
            height, width = self.pixels[place].shape[:2]
            named = {"prompt_sent": request.prompt, "prompt_id": request.prompt_id, "seed": request.seed}
            if "pixels" in image_result.__dataclass_fields__:
                named["pixels"] = self.pixels[place]
            yield result(request.key, image=image_result(self.contents[place], "image/png", width, height, **named))


def register() -> None:
    """The loaders above take the place of the real ones, which they call."""
    backends = cast(MutableMapping[str, MutableMapping[str, str]], find_first(BACKENDS))
    backends["encoder"]["clip"] = "bench.worker_models:load_encoder"
    backends["image_generator"]["diffusers"] = "bench.worker_models:load_generator"
    backends["vqa"]["llava-next"] = "bench.worker_models:load_answerer"


def set_up_process() -> dict[str, Any]:
    """Django and the models for one process; what `BENCH_WORKER` says."""
    import django
    from django.conf import settings

    if not held:
        settings.STORAGES["default"] = {"BACKEND": "bench.worker_storage.FarStorage"}
        django.setup()
        register()
    return cast(dict[str, Any], json.loads(os.environ["BENCH_WORKER"]))
