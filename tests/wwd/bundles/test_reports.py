"""Reports: one file that names nothing outside, marked on each page, printed by Chromium, and said where that fails."""

import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from evaluation import content_store
from evaluation.models import GeneratedImage
from evaluation.presentation.table import Line, ShownCell
from evaluation.runner.catalogue import subject_data
from evaluation.tables.read import read_stored_table as read_table
from review.models import CampaignImage
from tests.evaluation.make import make_dish, make_image, make_model
from tests.evaluation.make_tables import make_place_in
from tests.review.make import make_image_bytes
from tests.review.make_tables import make_campaign, make_people, make_review, make_shown
from tests.wwd.bundles.make import make_world
from wwd.exchange.bundles import blurred_images, pdf, report, table_views
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.page_fit import choose_page_layout
from wwd.exchange.bundles.pdf import PdfUnavailableError

VIEWS = ("review.quality?country=Kenya", "colours.diversity")


def make_request(*views: str, images: bool = False) -> Request:
    return Request("kenya", table_views.parse_views(views or VIEWS), images)


def cells(*values: str, interval: str | None = None) -> tuple[ShownCell, ...]:
    return tuple(ShownCell(value, value, 40, 12, interval, False, "") for value in values)


@pytest.mark.django_db
def test_a_report_is_one_file_with_warning_numbers_methods_and_what_is_not_measured() -> None:
    make_world()
    page, images = report.render_standalone_report(make_request(), report.read_fresh_view)
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page) == []
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert "<script" not in page
    assert page.index("Content warning.") < page.index("1. How different in colour")
    assert page.count('<section class="table') == 2
    assert "Nothing was measured for this choice." in page
    assert "country = <bdi" in page
    assert "Exploratory: no plan was made before the data." in page
    assert "Missing" not in page and "Board of Nairobi, 2026/17" in page
    assert images == 0


@pytest.mark.django_db
def test_a_demonstration_is_marked_in_the_margin_of_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"name": "kenya", "demonstration": True}
    assert '@top-right{content:"Demonstration: no measurement"}' in report.build_style_element(made)
    assert '@top-right{content:""}' in report.build_style_element({**made, "demonstration": False})


def test_running_titles_end_neither_their_text_nor_the_page() -> None:
    assert report.quote_css_string('a"</style>') == '"a\\000022\\00003c\\00002fstyle\\00003e"'


def test_tables_lie_across_where_they_do_not_fit_upright() -> None:
    few, many = [Line(("Kenya",), cells("0.500"))], [Line(("Kenya",), cells(*["0.500"] * 8, interval="0.400, 0.600"))]
    assert choose_page_layout(["country"], ["food"], few) == "upright"
    assert choose_page_layout(["country"], ["food"] * 8, many) == "across"
    assert (
        choose_page_layout(
            ["country"] * 6, ["raw agreement"] * 10, [Line(("A long name of a place",) * 6, cells(*["0.5"] * 10))]
        )
        == "dense"
    )
    assert choose_page_layout([], [], []) == "upright"


@pytest.mark.django_db
def test_images_are_small_blurred_and_of_public_dishes_alone() -> None:
    painter = make_model("painter")
    shown = make_image(
        make_place_in("Africa"), painter, sha256=content_store.store_content(make_image_bytes("red", (900, 600)))
    )
    found = blurred_images.blur_image(shown)
    assert found is not None and found.address.startswith("data:image/jpeg;base64,")
    hidden = make_dish("Hidden", state="hidden").subjects.create(kind="dish", name="Hidden", source_key="hidden")
    GeneratedImage.objects.create(subject=hidden, model_id=painter.id, sha256="a" * 64, source_key="hidden")
    keys = list(GeneratedImage.objects.values_list("pk", flat=True))
    assert blurred_images.select_public_images(keys) == [shown]
    shown.sha256 = "f" * 64
    assert blurred_images.blur_image(shown) is None


def test_images_come_from_the_whole_length_of_the_list() -> None:
    assert list(blurred_images.sample_images_evenly(list(range(80)))) == [0, 10, 20, 30, 40, 50, 60, 70]  # type: ignore[arg-type]
    assert list(blurred_images.sample_images_evenly([])) == []


@pytest.mark.django_db
def test_without_chromium_a_sentence_says_what_to_do(settings: Settings, tmp_path: Path) -> None:
    settings.CHROMIUM = "/no/such/chromium"
    with pytest.raises(CommandError, match="There is no Chromium on the worker"):
        call_command("report", "kenya", "generation.counts", output=tmp_path / "x.pdf", stderr=io.StringIO())
    call_command("report", "kenya", "generation.counts", output=tmp_path / "x.html", stdout=io.StringIO())
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


@pytest.mark.parametrize(
    ("script", "says"), [("exit 3", "status 3"), ("exit 0", "status 0"), ("sleep 9", "longer than")]
)
def test_a_chromium_that_prints_nothing_is_told(
    script: str, says: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    settings.CHROMIUM = str(broken)
    monkeypatch.setattr(pdf, "SECONDS", 1)
    with pytest.raises(PdfUnavailableError, match=says):
        pdf.print_page("<p>page</p>", tmp_path / "x.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["chromium"]


@pytest.mark.django_db
def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"ends in \.pdf or \.html"):
        call_command("report", "kenya", "generation.counts", output=tmp_path / "x.docx")


@pytest.mark.browser
@pytest.mark.django_db
def test_chromium_prints_a_report(tmp_path: Path) -> None:
    make_world()
    pdf.write_pdf_report(make_request("review.quality"), tmp_path / "x.pdf")
    content = (tmp_path / "x.pdf").read_bytes()
    assert content.startswith(b"%PDF") and content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") >= 2


@pytest.mark.django_db
def test_images_of_a_table_stand_in_the_report_where_no_plan_hides_who_made_them() -> None:
    painter = make_model("painter")
    dish = make_dish("Shown", state="accepted")
    subject = dish.subjects.create(kind="dish", name="Shown", source_key="shown", labels={"country": ["Kenya"]})
    image = make_image(subject_data(subject), painter, sha256=content_store.store_content(make_image_bytes("red")))
    shown = make_shown(make_campaign())
    CampaignImage.objects.filter(pk=shown.pk).update(image=image)
    for person in make_people(shown.campaign, 2):
        make_review(shown, person, food=True, quality=3)
    request = make_request("review.quality", "overview.totals", images=True)
    page, images = report.render_standalone_report(request, report.read_fresh_view)
    assert images == 1 and page.count("data:image/jpeg;base64,") == 1
    read = read_table("review.quality", {"country": "Kenya"})
    assert read.table is None and blurred_images.select_blurred_images(read) == []


@pytest.mark.django_db
def test_a_file_that_is_no_program_is_told(settings: Settings, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_bytes(b"\x00 no program")
    broken.chmod(0o755)
    settings.CHROMIUM = str(broken)
    with pytest.raises(PdfUnavailableError, match="could not be started"):
        pdf.print_page("<p>page</p>", tmp_path / "x.pdf")


def test_chromium_is_looked_for_under_the_names_that_systems_give_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that prints, as far as a report is concerned."""
    settings.CHROMIUM = ""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(pdf, "NAMES", ("no-such-browser", "google-chrome-of-tests"))
    with pytest.raises(PdfUnavailableError, match="There is no Chromium"):
        pdf.find_chromium()
    found = tmp_path / "google-chrome-of-tests"
    found.write_text("""#!/bin/sh
for word in "$@"; do case "$word" in --print-to-pdf=*) printf '%%PDF-1.7' > "${word#--print-to-pdf=}";; esac; done
""")
    found.chmod(0o755)
    assert pdf.find_chromium() == str(found)
    pdf.print_page("<p>page</p>", tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes() == b"%PDF-1.7"


@pytest.mark.django_db
def test_a_report_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="could not be written: No such file"):
        call_command("report", "kenya", "generation.counts", output=tmp_path / "none" / "x.html")


def test_cells_that_a_line_lacks_take_no_room() -> None:
    lacking = [Line(("Kenya",), (None, *cells("0.500")))]
    assert choose_page_layout(["country"], ["food", "quality"], lacking) == "upright"
