"""Images from a folder: `manage.py import_images`."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from evaluation.backends.standin.images import encode_png
from evaluation.ingest.image_folder import import_images
from evaluation.models import GeneratedImage, Run
from tests.evaluation.make import make_dish, make_model
from tests.evaluation.provider import png as grainy

pytestmark = pytest.mark.django_db
PATTERN = "{model}/{subject}_{seed}.png"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "pictures"
    found.mkdir()
    return found


def write(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(grainy(number))


def test_images_find_their_dish_by_number_name_and_key(folder: Path) -> None:
    make_model("dalle", backend="folder")
    first, second = make_dish("Waakye"), make_dish("Jollof")
    write(folder, f"dalle/{first.number}_1.png", "dalle/Jollof_2.png", f"dalle/dish:{first.number}_3.png")
    run, report = import_images(folder, PATTERN, "elsewhere")
    assert (report.new, report.known, report.left_out) == (3, 0, [])
    rows = GeneratedImage.objects.order_by("seed").values_list("subject__dish", "seed", "model__slug", "state")
    assert list(rows) == [
        (first.pk, 1, "dalle", "held"),
        (second.pk, 2, "dalle", "held"),
        (first.pk, 3, "dalle", "held"),
    ]
    assert (run.imported, run.study, run.state) == (True, "generation", Run.State.DONE)


def test_importing_twice_changes_nothing(folder: Path) -> None:
    make_model("dalle", backend="folder")
    make_dish("Waakye")
    write(folder, "dalle/Waakye_1.png", "dalle/Nothing_1.png")
    import_images(folder, PATTERN, "elsewhere")
    before = list(GeneratedImage.objects.values())
    _, report = import_images(folder, PATTERN, "elsewhere")
    assert (report.new, report.known, len(report.left_out)) == (0, 1, 1)
    assert list(GeneratedImage.objects.values()) == before


def test_a_name_that_two_dishes_share_finds_neither(folder: Path) -> None:
    make_model("dalle", backend="folder")
    make_dish("Fufu")
    make_dish("Fufu")
    write(folder, "dalle/Fufu_1.png")
    _, report = import_images(folder, PATTERN, "elsewhere")
    assert report.new == 0
    assert report.left_out[0].reason.startswith("There is no subject 'Fufu'")


def test_an_image_that_shows_nothing_is_held_back_with_its_reason(folder: Path) -> None:
    make_model("dalle", backend="folder")
    make_dish("Waakye")
    write(folder, "dalle/Waakye_1.png")
    (folder / "dalle/Waakye_2.png").write_bytes(encode_png(Image.new("RGB", (32, 32), "black")))
    run, report = import_images(folder, PATTERN, "elsewhere")
    assert report.new == 2
    assert list(GeneratedImage.objects.order_by("seed").values_list("state", flat=True)) == ["held", "held_back"]
    assert run.units.get(state="empty").outcome.reason == "The image is black."


def test_the_command_lists_what_it_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_model("dalle", backend="folder")
    make_dish("Waakye")
    write(folder, "Waakye_1.png", "Wakye_1.png", "notes.png")
    with pytest.raises(CommandError, match="2 files were left out, the rest was taken"):
        call_command("import_images", folder, pattern="{subject}_{sample}.png", model="dalle", run_slug="elsewhere")
    shown = capsys.readouterr()
    assert shown.out == "Run elsewhere: 1 new images, 0 known, 2 files left out.\n"
    assert "Wakye_1.png: There is no subject 'Wakye'. Did you mean Waakye" in shown.err
    assert "notes.png: its name does not fit the pattern" in shown.err
    for path in folder.glob("*[!1].png"):
        path.unlink()
    (folder / "Wakye_1.png").unlink()
    for former in (False, True):
        name = "import_pictures" if former else "import_images"
        call_command(name, folder, pattern="{subject}_{sample}.png", model="dalle", run_slug="elsewhere")
        shown = capsys.readouterr()
        assert shown.out == "Run elsewhere: 0 new images, 1 known, 0 files left out.\n"
        assert ("is now called import_images" in shown.err) == former


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pattern": "{subject}_{seed}.png"}, "Name the model once"),
        ({"pattern": PATTERN, "model": "dalle"}, "Name the model once"),
        ({"pattern": "{model}.png"}, "{subject} is needed"),
        ({"folder": "/nowhere", "pattern": PATTERN}, "There is no folder '/nowhere'"),
    ],
)
def test_wrong_options_are_explained(folder: Path, options: dict[str, str], sentence: str) -> None:
    chosen = Path(options.pop("folder", str(folder)))
    with pytest.raises(CommandError) as caught:
        call_command("import_images", chosen, run_slug="elsewhere", **options)
    assert sentence in str(caught.value)
    assert not Run.objects.exists()
