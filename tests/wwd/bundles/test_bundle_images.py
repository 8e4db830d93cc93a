"""Images in bundles: only by wish, only those that may leave, under their terms, and noted."""

import io
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command

from collection.models import Dish
from evaluation import content_store
from evaluation.images import download_log
from evaluation.models import GeneratedImage, ImageDownload, Model, Role, Subject
from tests.evaluation.make import make_dish
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff
from tests.review.make import make_image_bytes
from tests.wwd.bundles.make import make_bundle, manifest
from wwd.exchange.bundles import images

pytestmark = pytest.mark.django_db
TABLE = "association.scores"


@pytest.fixture
def held() -> str:
    """SHA-256 of an image that all four of a run have."""
    make_association(*(image_result(make_place_in("Africa"), "painter", 1, number) for number in range(4)))
    sha256 = content_store.store_content(make_image_bytes())
    GeneratedImage.objects.update(sha256=sha256, media_type="image/png")
    return sha256


def taken(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "pictures").iterdir()) if (folder / "pictures").exists() else []


def test_images_come_once_each_and_with_their_terms(held: str, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, TABLE, images=True)
    assert taken(folder) == [f"{held}.png"]
    assert manifest(folder)["pictures"] == 1
    assert "They are not for training" in (folder / "TERMS.md").read_text()
    assert content_store.read_content(held) == (folder / "pictures" / f"{held}.png").read_bytes()


def test_without_the_wish_there_are_none(held: str, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, TABLE)
    assert taken(folder) == []
    assert "They are not for training" not in (folder / "TERMS.md").read_text()


@pytest.mark.parametrize("state", [Dish.State.HIDDEN, Dish.State.REJECTED, Dish.State.WITHDRAWN])
def test_images_of_dishes_that_are_not_shown_stay(held: str, state: str, tmp_path: Path) -> None:
    Subject.objects.update(dish=make_dish(state=state))
    assert taken(make_bundle(tmp_path, TABLE, images=True)) == []


def test_photographs_leave_only_where_their_contributor_shares_them(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Model.objects.filter(slug="painter").update(role=Role.CAMERA)
    photo = uuid4()
    GeneratedImage.objects.filter(pk=GeneratedImage.objects.earliest("pk").pk).update(source_key=f"photo:{photo}")
    assert taken(make_bundle(tmp_path, TABLE, images=True)) == []
    monkeypatch.setattr(images, "list_shared_photo_ids", lambda: {photo.hex})
    assert taken(make_bundle(tmp_path, TABLE, name="shared", images=True)) == [f"{held}.png"]


def test_a_file_that_is_missing_is_left_out(held: str, tmp_path: Path) -> None:
    GeneratedImage.objects.update(sha256="0" * 64)
    assert taken(make_bundle(tmp_path, TABLE, images=True)) == []


def test_the_command_notes_who_takes_images(held: str, tmp_path: Path) -> None:
    def take(name: str) -> None:
        out = {"stdout": io.StringIO(), "stderr": io.StringIO()}
        options = {"images": True, "accept_terms": "researcher", "no_check": True}
        call_command("bundle", name, TABLE, output=tmp_path / f"{name}.zip", **options, **out)

    user: User = make_staff()
    with pytest.raises(CommandError, match="not for training"):
        take("refused")
    user.user_permissions.add(Permission.objects.get(codename=download_log.PERMISSION))
    take("taken")
    row = ImageDownload.objects.get()
    assert (row.by, row.what, row.number) == (user, "bundle taken", 1)
    assert [path.name for path in tmp_path.glob("*.zip")] == ["taken.zip"]
