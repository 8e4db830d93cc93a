"""Figures: what is drawn of a table, in colours that everybody tells apart, in files that can be printed."""

import io
import logging
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdf
import pytest
import uharfbuzz
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from PIL import Image

from evaluation.figures import draw, files, fonts, layout, palette
from evaluation.figures import model as figures_model
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from tests.evaluation.make_tables import make_row, make_table

Floats = npt.NDArray[np.float64]
ALL = [*palette.COLOURS.values(), *palette.SPARE]
# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear sRGB.
VISIONS = {
    "everybody": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
ROOT = Path(__file__).resolve().parents[3]
MAQLUBA, KHICHDI = "مقلوبة", "खिचड़ी"

ELSEWHERE = f"""
import sys
from evaluation.figures.files import render_figure_file
from evaluation.figures.model import FigureStyle
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
value = Estimate(0.5, 3, 12, 0.4, 0.6, "bootstrap")
names = ("{MAQLUBA}", "{KHICHDI}", "Waakye")
rows = tuple(TidyRow({{"country": name, "model": "Dalle2"}}, "food", value) for name in names)
table = TidyTable("review.quality", "1", ("country", "model"), rows, demonstration=True)
sys.stdout.buffer.write(render_figure_file(table, ["food"], "pdf", FigureStyle(8)))
"""


# Colours.


def lab(colour: str, vision: str = "everybody") -> Floats:
    """CIE Lab of `#rrggbb` as somebody with this vision sees it."""
    parts = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(VISIONS[vision]) @ linear, 0, 1) / WHITE
    bent = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * bent[1] - 16, 500 * (bent[0] - bent[1]), 200 * (bent[1] - bent[2])])


@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_colours_are_told_apart_by_people_who_see_few(vision: str) -> None:
    seen = [lab(colour, vision) for colour in ALL]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) >= 20


def test_colours_differ_in_lightness_for_print_in_grey() -> None:
    published = sorted(
        palette.colour_lightness(palette.COLOURS[model]) for model in ("dalle2", "sd21", "dalle3", "real")
    )
    assert np.diff(published).min() >= 18
    assert np.diff(sorted(map(palette.colour_lightness, ALL))).min() >= 4


@pytest.mark.parametrize("colour", ALL)
def test_lightness_is_that_of_cie(colour: str) -> None:
    assert palette.colour_lightness(colour) == pytest.approx(lab(colour)[0], abs=0.02)


def test_a_model_keeps_its_colour_whatever_it_is_called_and_whoever_comes_later() -> None:
    known = [("dalle2", "DALL·E 2 (published)"), ("painter", "Painter 1"), ("brush", "Brush")]
    before = palette.assign_model_colours(known)
    after = palette.assign_model_colours([*known, ("late", "Latecomer")])
    assert before.items() <= after.items()
    assert (
        palette.get_model_colour("Painter 1", after)
        == palette.get_model_colour("painter", after)
        != palette.get_model_colour("Brush", after)
    )
    assert {palette.get_model_colour(name) for name in ("Dalle2", "dalle2", "DALL·E 2")} == {palette.COLOURS["dalle2"]}


def test_masked_models_have_colours_of_their_own_that_say_nothing() -> None:
    masked = [palette.get_model_colour(name) for name in ("A", "B", "C", "D")]
    assert len(set(masked)) == 4
    assert not set(masked) & set(palette.COLOURS.values())


# What is drawn.


@pytest.fixture(scope="module")
def printed() -> bytes:
    """A printed figure of 8 cm with names in three scripts, of a demonstration."""
    rows = [make_row(name, "Dalle2", n=3) for name in (MAQLUBA, KHICHDI, "Waakye")]
    return file_of(make_table(rows, demonstration=True), "pdf", width=8)


def plan_of(table: TidyTable, *metrics: str) -> figures_model.FigurePlan:
    plan = layout.lay_out_figure(table, metrics or ("food",))
    assert plan is not None
    return plan


def file_of(table: TidyTable, ending: figures_model.Ending = "svg", **look: Any) -> bytes:
    drawn = files.render_figure_file(table, ["food"], ending, figures_model.FigureStyle(**look))
    assert drawn is not None
    return drawn


def test_each_metric_has_its_panel_and_places_stand_at_the_side() -> None:
    rows = [make_row(country, "Dalle2", metric) for country in ("Kenya", "Ghana") for metric in ("food", "good")]
    plan = plan_of(make_table(rows), "food", "good")
    assert [panel.title for panel in plan.panels] == ["food", "good"]
    assert [name for name, _bars in plan.panels[0].places()] == ["Ghana", "Kenya"]
    assert plan.models == {"Dalle2": palette.COLOURS["dalle2"]}


def test_panels_are_drawn_only_for_what_occurs() -> None:
    groups = [("setting", "Market"), ("light", "Low"), ("light", "Mixed")]
    rows = [
        TidyRow({"question": question, "option": option, "continent": name}, "food", Estimate(0.5, 40, 20))
        for question, option in groups
        for name in ("Asia", "Europe")
    ]
    plan = plan_of(TidyTable("t", "1", ("question", "option", "continent"), tuple(rows)))
    assert [panel.title for panel in plan.panels] == [f"{', '.join(group)}, food" for group in sorted(groups)]


def test_a_metric_that_a_group_lacks_has_no_panel_there() -> None:
    rows = [
        TidyRow({"question": question, "continent": "Asia"}, metric, Estimate(0.5, 40, 20))
        for question, metrics in (("light", ("food",)), ("setting", ("food", "good")))
        for metric in metrics
    ]
    rows += [TidyRow({**row.groups, "continent": "Europe"}, row.metric, row.estimate) for row in rows]
    plan = plan_of(TidyTable("t", "1", ("question", "continent"), tuple(rows)), "food", "good")
    assert [panel.title for panel in plan.panels] == ["light, food", "setting, food", "setting, good"]


def test_names_of_models_that_do_not_fit_beside_one_another_stand_in_lines() -> None:
    names = [f"A model with a long name, number {number}" for number in range(6)]
    plan = plan_of(make_table([make_row("Kenya", name) for name in names]))
    lines = draw.legend_lines(plan, 6.0)
    assert len(lines) > 1
    assert [name for line in lines for name in line] == list(plan.models)


def test_a_column_of_one_value_stands_neither_at_the_side_nor_over_the_panels() -> None:
    rows = [
        TidyRow({"run": "first", "question": question, "country": "all"}, "food", Estimate(0.5, 40, 20))
        for question in ("associates", "correct_dish")
    ]
    [panel] = plan_of(TidyTable("t", "1", ("run", "question", "country"), tuple(rows))).panels
    assert panel.title == "food"
    assert [name for name, _bars in panel.places()] == ["associates", "correct_dish"]


def test_a_row_over_all_places_comes_last() -> None:
    rows = [make_row(country, "Dalle2") for country in ("all", "Kenya", "Ghana")]
    assert [name for name, _bars in plan_of(make_table(rows)).panels[0].places()] == ["Ghana", "Kenya", "all"]


def test_panels_of_one_metric_share_a_scale_that_begins_at_zero() -> None:
    rows = [make_row("Kenya", "Dalle2", value=0.9, low=0.85, high=0.95), make_row("Ghana", "Dalle2", value=0.2)]
    assert plan_of(make_table(rows)).panels[0].scale == (0, 0.95)
    assert figures_model.find_value_range(iter([Estimate(-0.2, 40, 20, -0.3, -0.1)])) == (-0.3, 0)
    assert figures_model.find_value_range(iter([Estimate(0.0, 40, 20), Estimate(None, 0, 0)])) == (0, 1)


def test_the_foot_names_the_method_and_why_something_is_not_measured() -> None:
    rows = [make_row("Kenya", "Dalle2"), make_row("Ghana", "Dalle2", value=None, low=None, reason="nobody was asked")]
    foot = plan_of(make_table(rows, demonstration=True)).foot
    assert foot[0] == "Lines: 95 % intervals (bootstrap)."
    assert "– not measured: nobody was asked (1)." in foot
    assert foot[-1].startswith("Demonstration")


def test_a_figure_without_intervals_says_that_none_is_claimed() -> None:
    assert plan_of(make_table([make_row("Kenya", "Dalle2", low=None, high=None)])).foot[0] == layout.NO_LINES


def test_tall_panels_are_parted_and_too_many_are_left_out_and_counted() -> None:
    rows = [make_row(f"Country {number}", "Dalle2", metric) for number in range(60) for metric in ("a", "b")]
    plan = plan_of(make_table(rows), "a", "b")
    assert [panel.title for panel in plan.panels] == ["a (1 of 2)", "a (2 of 2)", "b (1 of 2)", "b (2 of 2)"]
    many = [make_row(f"Country {number}", "Dalle2", metric) for number in range(300) for metric in ("a", "b", "c")]
    assert plan_of(make_table(many), "a", "b", "c").left_out == 2


def test_a_table_with_models_alone_and_one_without_are_drawn() -> None:
    of_models = [TidyRow({"model": name}, "food", Estimate(0.5, 40, 12)) for name in ("Dalle2", "sd21")]
    assert file_of(make_table(of_models, columns=("model",)))
    row = TidyRow({"country": "Kenya"}, "food", Estimate(0.5, 40, 12))
    assert plan_of(make_table([row], columns=("country",))).models == {}
    assert file_of(make_table([row], columns=("country",)))


def test_nothing_to_draw_gives_no_figure() -> None:
    assert files.render_figure_file(make_table(), ["food"], "svg") is None
    assert files.render_figure_file(make_table([make_row("Kenya", "Dalle2", "bad")]), ["food"], "svg") is None
    lacking = make_row("Kenya", "Dalle2", value=None, low=None, high=None)
    assert files.render_figure_file(make_table([lacking]), ["food"], "svg") is None


def test_only_small_groups_are_hatched() -> None:
    assert b"<pattern" not in file_of(make_table([make_row("Kenya", "Dalle2")]))
    assert b"<pattern" in file_of(make_table([make_row("Kenya", "Dalle2", n=12)]))


def test_a_demonstration_says_so_on_its_face(printed: bytes) -> None:
    assert "DEMONSTRATION" in pypdf.PdfReader(io.BytesIO(printed)).pages[0].extract_text()
    table = make_table([make_row("Kenya", "Dalle2")])
    assert file_of(table) != file_of(replace(table, demonstration=True))


@pytest.mark.parametrize("name", ["$\\frac{1}{", "$", "<b>&", "a\nb", "x" * 300, "\u202eabc", "", "𝔘𝔫", "\x07"])
def test_any_name_can_be_drawn(name: str) -> None:
    assert file_of(make_table([make_row(name, name)]), width=8)


# Files.


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_table_gives_the_same_bytes(ending: figures_model.Ending) -> None:
    table = make_table([make_row(KHICHDI, "Dalle2"), make_row("Ghana", "Dalle2", value=None, low=None, high=None)])
    assert file_of(table, ending) == file_of(table, ending)


def test_the_same_table_gives_the_same_printed_bytes_in_another_process(printed: bytes) -> None:
    there = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, check=True, cwd=ROOT)
    assert there.stdout == printed


def test_a_figure_has_the_width_of_a_printed_column_or_page(printed: bytes) -> None:
    assert float(pypdf.PdfReader(io.BytesIO(printed)).pages[0].mediabox.width) == pytest.approx(8 / 2.54 * 72, abs=0.1)
    table = make_table([make_row("Kenya", "Dalle2")])
    for width in layout.WIDTHS:
        image = Image.open(io.BytesIO(file_of(table, "png", width=width)))
        assert image.width == pytest.approx(width / 2.54 * 300, abs=1)


def test_a_figure_that_is_too_tall_for_a_page_has_several() -> None:
    rows = [make_row(f"Country {number}", "Dalle2", metric) for number in range(45) for metric in ("food", "b", "c")]
    plan = plan_of(make_table(rows), "food", "b", "c")
    pages = draw.split_into_pages(plan, 8 / 2.54, draw.PAGE)
    assert [len(page.lines) for page in pages] == [1, 1, 1]
    assert max(page.height for page in pages) <= draw.PAGE
    assert len(draw.split_into_pages(plan, 8 / 2.54, None)) == 1


def test_letters_are_six_points_or_larger_and_stay_within_the_width(printed: bytes) -> None:
    sizes: list[float] = []

    def see(_text: str, _matrix: list[float], _place: list[float], _font: Any, size: float) -> None:
        sizes.append(size)

    pypdf.PdfReader(io.BytesIO(printed)).pages[0].extract_text(visitor_text=see)
    assert min(size for size in sizes if size) >= 6
    for text in (*layout.MARKS.split(". "), "Democratic Republic of the Congo", "x" * 90, "a " * 60):
        lines = fonts.wrap_text(text, 6, 1.0)
        assert max(fonts.text_width(line, 6) for line in lines) <= 1.0
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


# Scripts.


def drawn_glyphs(content: bytes, family: str) -> list[tuple[Any, ...]]:
    """The outlines of the glyphs that a PDF draws with a font, in their order along the page."""
    page: Any = pypdf.PdfReader(io.BytesIO(content)).pages[0]
    held = page["/Resources"]["/Font"]
    found: list[tuple[Any, ...]] = []
    for name, reference in held.items():
        font = reference.get_object()
        if not font["/BaseFont"].endswith(family):
            continue
        inner = font["/DescendantFonts"][0].get_object()
        embedded = TTFont(io.BytesIO(inner["/FontDescriptor"]["/FontFile2"].get_object().get_data()))
        to_glyph = np.frombuffer(inner["/CIDToGIDMap"].get_object().get_data(), dtype=">u2")
        codes = np.frombuffer(shown_with(page, name), dtype=">u2")
        found += [outline(embedded, int(to_glyph[code])) for code in codes]
    return found


def shown_with(page: Any, font: str) -> bytes:
    """The codes of all texts that a page shows with a font."""
    current, shown = "", b""
    for operands, operator in pypdf.generic.ContentStream(page["/Contents"], page.pdf).operations:
        if operator == b"Tf":
            current = str(operands[0])
        elif current == font and operator in (b"Tj", b"TJ"):
            parts = operands[0] if operator == b"TJ" else operands
            shown += b"".join(raw(part) for part in parts if isinstance(part, str | bytes))
    return shown


def raw(part: Any) -> bytes:
    return part if isinstance(part, bytes) else part.original_bytes


def outline(font: TTFont, glyph: int) -> tuple[Any, ...]:
    table = font["glyf"]
    points, _ends, _flags = table[font.getGlyphName(glyph)].getCoordinates(table)
    return tuple(map(tuple, points))


def shaped(path: str, word: str) -> list[tuple[Any, ...]]:
    """The outlines of the glyphs that HarfBuzz chooses for a word, from left to right."""
    font = uharfbuzz.Font(uharfbuzz.Face(uharfbuzz.Blob.from_file_path(path)))
    buffer = uharfbuzz.Buffer()
    buffer.add_str(word)
    buffer.guess_segment_properties()
    uharfbuzz.shape(font, buffer)
    with TTFont(path) as held:
        return [outline(held, info.codepoint) for info in buffer.glyph_infos]


@pytest.mark.parametrize(("word", "place"), [(MAQLUBA, 1), (KHICHDI, 0)])
def test_arabic_and_devanagari_have_the_shapes_of_harfbuzz(printed: bytes, word: str, place: int) -> None:
    path = fonts.path_of(fonts.list_shipped_families()[place])
    family = "NotoSansArabic-Regular" if place else "NotoSans-Regular"
    drawn = drawn_glyphs(printed, family)
    expected = shaped(path, word)
    assert any(drawn[start : start + len(expected)] == expected for start in range(len(drawn)))
    alone = [glyph for letter in word for glyph in shaped(path, letter)]
    assert not any(drawn[start : start + len(alone)] == alone for start in range(len(drawn)))


def test_every_font_of_a_pdf_is_embedded_as_truetype(printed: bytes) -> None:
    page: Any = pypdf.PdfReader(io.BytesIO(printed)).pages[0]
    held = page["/Resources"]["/Font"]
    used = [font.get_object() for font in held.values()]
    assert {font["/Subtype"] for font in used} == {"/Type0"}
    assert all("/FontFile2" in font["/DescendantFonts"][0].get_object()["/FontDescriptor"] for font in used)
    assert {re.sub("^[A-Z]{6}[+]", "", font["/BaseFont"][1:]) for font in used} == {
        "NotoSans-Regular",
        "NotoSansArabic-Regular",
    }


def test_an_svg_holds_no_text_that_a_reader_could_lack_a_font_for() -> None:
    drawn = file_of(make_table([make_row(MAQLUBA, "Dalle2")]))
    assert b"<text" not in drawn
    assert not re.findall(rb'href="(?!#)', drawn)


def test_letters_that_no_font_has_are_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="evaluation.figures.fonts"):
        fonts.choose_font_families(["\U0010fffd"])
    assert "U+10FFFD" in caplog.text


def test_without_the_packages_of_fonts_figures_are_drawn_and_the_log_says_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fonts, "PACKAGES", ("no_such_package_of_fonts",))
    fonts.list_shipped_families.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, logger="evaluation.figures.fonts"):
            assert fonts.choose_font_families(["Waakye"]) == [fonts.LAST]
    finally:
        fonts.list_shipped_families.cache_clear()
    assert "no_such_package_of_fonts" in caplog.text


def test_letters_that_the_shipped_fonts_lack_are_taken_from_those_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A server on which the packages of fonts are missing and Noto is installed."""
    shipped = Path(fonts.path_of(fonts.list_shipped_families()[0]))
    installed = tmp_path / "NotoSansTest-Regular.ttf"
    shutil.copy(shipped, installed)
    manager = font_manager.fontManager
    before = list(manager.ttflist)
    monkeypatch.setattr(fonts, "PACKAGES", ())
    for kept in (fonts.list_shipped_families, fonts._of_system):
        kept.cache_clear()
    try:
        manager.addfont(installed)
        assert fonts.choose_font_families(["Waakye"]) == [fonts.LAST]
        assert fonts.choose_font_families([KHICHDI]) == [fonts.LAST, "World Wide Dishes NotoSansTest-Regular"]
    finally:
        manager.ttflist[:] = before
        for kept in (fonts.list_shipped_families, fonts._of_system):
            kept.cache_clear()
