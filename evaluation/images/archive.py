"""Images that somebody takes away: one file, or an archive with the terms and a list of what is in it."""

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from evaluation import content_store
from evaluation.images import files as images_files
from evaluation.images.download_log import TERMS
from evaluation.models import GeneratedImage
from wwd.base.csv_files import CSV_NOTE, csv_text, json_lines

MOST_IMAGES = 200
MOST_BYTES = 300_000_000
COLUMNS = (
    "picture",
    "file",
    "why not",
    "dish",
    "countries",
    "model",
    "revision",
    "run",
    "seed",
    "sample",
    "prompt as sent",
    "prompt as rewritten",
    "sha256",
)


@dataclass(frozen=True)
class Taken:
    """An image of an archive: its row, its content's name, or why it is not there."""

    image: GeneratedImage
    file: str
    why: str


def name_of(image: GeneratedImage) -> str:
    """A file name that tells the image's number and nothing else."""
    return f"picture-{image.pk}.{images_files.ENDINGS.get(image.media_type, 'bin')}"


def choose_archive_images(ids: Sequence[int]) -> list[Taken]:
    """The images of `ids` in their order, each with why it cannot be taken, if it cannot."""
    rows = GeneratedImage.objects.select_related("subject__dish", "model", "run").in_bulk(list(ids)[:MOST_IMAGES])
    images = [rows[key] for key in ids if key in rows]
    why = images_files.why_not(images)
    return [Taken(image, "" if why[image.pk] else name_of(image), why[image.pk]) for image in images]


def pack_archive(chosen: Sequence[Taken]) -> tuple[IO[bytes], list[Taken]]:
    """A zip archive in a temporary file, and what is in it: a file that is missing or too much says so in the list."""
    out = tempfile.TemporaryFile()  # noqa: SIM115  (the response that sends it closes it)
    done, size = [], 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for each in chosen:
            content = content_of(each)
            if each.file and content is None:
                each = Taken(each.image, "", "The file of the image is missing in the storage.")
            elif content is not None and size + len(content) > MOST_BYTES:
                each = Taken(each.image, "", "The archive was full.")
            elif content is not None:
                size += len(content)
                archive.writestr(each.file, content)
            done.append(each)
        archive.writestr("terms.txt", "\n".join(map(str, TERMS)) + "\n")
        rows = list(list_archive_rows(done))
        archive.writestr("pictures.csv", csv_text(COLUMNS, rows))
        archive.writestr("pictures.spreadsheet.csv", csv_text(COLUMNS, rows, spreadsheet=True))
        archive.writestr("pictures.jsonl", "".join(json_lines(COLUMNS, rows)))
        archive.writestr("README.txt", f"{CSV_NOTE}\n")
    out.seek(0)
    return out, done


def content_of(each: Taken) -> bytes | None:
    try:
        return content_store.read_content(each.image.sha256) if each.file else None
    except FileNotFoundError:
        return None


def list_archive_rows(taken: Sequence[Taken]) -> Iterator[list[object]]:
    """The rows of an archive's list by COLUMNS, of withdrawn dishes nothing but the image's number."""
    for each in taken:
        known = (
            ["" for _ in COLUMNS[3:]]
            if images_files.is_withdrawn(each.image)
            else list(describe_archive_image(each.image))
        )
        yield [each.image.pk, each.file, each.why, *known]


def describe_archive_image(image: GeneratedImage) -> Iterator[str]:
    model, run = image.model, image.run
    yield image.subject.name
    yield ", ".join(image.subject.labels.get("country", ()))
    yield model.slug if model else ""
    yield model.revision if model else ""
    yield run.slug if run else ""
    yield "" if image.seed is None else str(image.seed)
    yield "" if image.sample is None else str(image.sample)
    yield image.prompt_sent
    yield image.prompt_revised
    yield image.sha256
