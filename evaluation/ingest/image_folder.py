"""Images from a folder enter as an imported run of the study `generation`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collection.models import Dish
from evaluation.contracts.study import ConfigError, ImageResult, ModelData, Result, SubjectData, UnitPlan
from evaluation.ingest.folder_pattern import FoundImage, LeftOut, scan_image_folder
from evaluation.models import Run, Subject
from evaluation.readers import image_quality
from evaluation.runner import import_run
from evaluation.runner.catalogue import DatabaseCatalogue, subject_data
from evaluation.studies.generation import shorten_key
from evaluation.subjects import subject_for
from evaluation.suggestions import describe_unknown_name


@dataclass
class Report:
    """What became of the files: how many images are new, and which files were left out."""

    new: int = 0
    known: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def import_images(folder: Path, pattern: str, slug: str, model: str = "") -> tuple[Run, Report]:
    """Imports the images of `folder` whose names fit `pattern`, such as `{model}/{subject}_{seed}.png`.

    `{subject}` is the number of an accepted dish, its name where no other dish has the same, or a subject's key.
    `model` is the slug for all images where the pattern has no `{model}`. A second import changes nothing.
    """
    if ("{model}" in pattern) == bool(model):
        raise ConfigError("Name the model once: as {model} in the pattern, or as the model of all images.")
    report = Report()
    found = list(filter_found_images(scan_image_folder(folder, pattern), report))
    results = plan_image_units(found, model, report)
    config = {"pattern": pattern, **({"model": model} if model else {})}
    run, report.new = import_run("generation", slug, config, results)
    report.known = len(found) - report.new - sum(1 for row in report.left_out if row.reason.startswith("There is no"))
    return run, report


def filter_found_images(files: Iterable[FoundImage | LeftOut], report: Report) -> Iterator[FoundImage]:
    for file in files:
        if isinstance(file, LeftOut):
            report.left_out.append(file)
        else:
            yield file


def plan_image_units(found: Iterable[FoundImage], model: str, report: Report) -> Iterator[tuple[UnitPlan, Result]]:
    """Unit and result of each image whose subject and model are known; the others go into the report."""
    subjects, catalogue = known_subjects(), DatabaseCatalogue()
    models: dict[str, ModelData] = {}
    for file in found:
        name = file.fields["subject"]
        slug = file.fields.get("model") or model
        try:
            if slug not in models:
                models[slug] = catalogue.model(slug)
            if name not in subjects:
                raise ConfigError(describe_unknown_name("subject", name, subjects))
        except ConfigError as error:
            report.left_out.append(LeftOut(file.name, str(error)))
            continue
        yield plan_image_unit(file, models[slug], subjects[name])


def known_subjects() -> dict[str, SubjectData]:
    """Subjects by key, by dish number, and by name where it is the only one of that name."""
    for dish in Dish.objects.accepted().filter(subjects=None):
        subject_for(dish)
    found: dict[str, SubjectData] = {}
    names: dict[str, list[SubjectData]] = {}
    for row in Subject.objects.select_related("dish").order_by("pk"):
        data = subject_data(row)
        found[row.source_key] = data
        names.setdefault(row.name, []).append(data)
        if row.dish:
            found[str(row.dish.number)] = data
    return {name: rows[0] for name, rows in names.items() if len(rows) == 1} | found


def plan_image_unit(file: FoundImage, model: ModelData, subject: SubjectData) -> tuple[UnitPlan, Result]:
    seed = int(file.fields["seed"]) if "seed" in file.fields else None
    sample = int(file.fields.get("sample", 0)) if seed is None else None
    place = f"seed{seed}" if seed is not None else f"sample{sample}"
    key = shorten_key(f"{model.slug}/{subject.key}/{place}")
    content = file.content()
    image = ImageResult(content, file.media_type, file.width, file.height, prompt_sent="", seed=seed, sample=sample)
    flaw = image_quality.assess_image_quality(content).flaw
    result = Result(key, "empty" if flaw else "done", image=image, reason=flaw)
    payload = {"file": file.name, "seed": seed, "sample": sample}
    return UnitPlan(key, model, subject, payload, shorten_key(subject.key)), result
