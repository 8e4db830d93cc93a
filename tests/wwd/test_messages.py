"""Translations: the compiled catalogues lie beside their sources, so that a clone and a container need no tool."""

import ast
import calendar
import gettext
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings

from tests.wwd.processes import ROOT
from wwd.base.packages import PACKAGES
from wwd.message_catalogues import list_texts, list_untranslated_texts, read_catalogue
from wwd.month_names import MONTHS

SOURCES = sorted(Path(settings.BASE_DIR, "locale").glob("*/LC_MESSAGES/*.po"))
# What only staff read, from the layers; below collection and review also single modules.
STAFF = (
    *("evaluation", "wwd", "collection/admin", "review/admin"),
    *("review/tables", "review/people_machine", "review/drilldown"),
    *("collection/apps.py", "review/apps.py", "collection/management"),
    *("collection/models/consent.py", "collection/models/rights.py", "collection/models/takebacks.py"),
    *("collection/dishes/takeback.py", "collection/views/takeback.py", "collection/views/bulk_rollback.py"),
    *("collection/access/alarms.py", "collection/dishes/curation.py", "collection/consent/readiness.py"),
    *("collection/consent/recordings.py", "collection/withdrawal/tombstones.py", "review/campaigns/readiness.py"),
    *("templates/admin", "templates/bundles", "templates/evaluation", "templates/staff"),
    *("templates/collection/admin", "templates/review/admin"),
)
# Every visitor may see an error.
PUBLIC = ("wwd/base/errors.py", "wwd/month_names.py")
# Of these, everybody reads the names of choices; the rest explains columns to staff.
MODELS = ("collection/models", "review/models.py")
MARK = re.compile(r"(?:u?n?p?gettext(?:_lazy|_noop)?)")
TAG = re.compile(r"\{%\s*(?:block)?trans(?:late)?\b")
ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d+\])?) ((?:".*"\n?)+)', re.MULTILINE)


def texts(source: str) -> Iterator[tuple[str, str]]:
    """Keyword and text of every line of a source file that is no comment."""
    for keyword, quoted in ENTRY.findall(source):
        yield keyword, "".join(ast.literal_eval(line) for line in quoted.splitlines())


def catalogue(source: str) -> dict[tuple[str, int], str]:
    """Message and number of its plural form → translation; without what has none."""
    found, message = {}, ""
    for keyword, text in texts(source):
        if keyword == "msgid":
            message = text
        elif keyword.startswith("msgstr") and text:
            found[message, int(re.sub(r"\D", "", keyword) or 0)] = text
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.parent.parent.name)
def test_compiled_catalogue_says_what_its_source_says(path: Path) -> None:
    """Mended by: msgfmt -o django.mo django.po"""
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    said = {(key if isinstance(key, tuple) else (key, 0)): text for key, text in compiled.items()}
    assert catalogue(path.read_text(encoding="utf-8")) == said


def test_there_are_catalogues() -> None:
    assert SOURCES


def is_below(path: Path, root: Path, places: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(root / place) for place in places)


def find_marks(path: Path, in_choices: bool) -> Iterator[int]:
    """Lines of one module that call gettext, by any name; with `in_choices` also those inside classes of choices."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if MARK.fullmatch(alias.name)
    }
    choices = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("TextChoices") for base in node.bases)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (in_choices or node not in choices):
            function = node.func
            if (isinstance(function, ast.Name) and function.id in names) or (
                isinstance(function, ast.Attribute)
                and MARK.fullmatch(function.attr)
                and ast.unparse(function.value).endswith("translation")
                and ast.unparse(function.value) != "gettext.translation"
            ):
                yield node.lineno


def find_marked_staff_texts(root: Path) -> list[str]:
    """File and line of every text that only staff read and that is marked for translation."""
    found = []
    for path in sorted(root.glob("*/**/*.py")):
        if is_below(path, root, STAFF) and not is_below(path, root, PUBLIC):
            found += [f"{path.relative_to(root)}:{line}" for line in find_marks(path, in_choices=True)]
        elif is_below(path, root, MODELS):
            found += [f"{path.relative_to(root)}:{line}" for line in find_marks(path, in_choices=False)]
    for path in sorted(root.glob("templates/**/*.html")):
        if is_below(path, root, STAFF):
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [f"{path.relative_to(root)}:{n}" for n, line in enumerate(lines, 1) if TAG.search(line)]
    return found


def test_no_text_that_only_staff_read_is_marked_for_translation() -> None:
    """Texts of staff pages are plain English."""
    assert find_marked_staff_texts(ROOT) == []


@pytest.mark.parametrize("place", (*STAFF, *PUBLIC, *MODELS))
def test_every_named_place_exists(place: str) -> None:
    assert (ROOT / place).exists()


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("evaluation/views/x.py", 'from django.utils.translation import gettext_lazy as _\n\n_("A run")\n', 3),
        ("wwd/x.py", 'from django.utils.translation import ngettext as n\nn("a", "b", 2)\n', 2),
        ("review/admin/x.py", 'from django.utils import translation\ntranslation.gettext("a")\n', 2),
        (
            "collection/models/x.py",
            "from django.utils.translation import gettext as _\n"
            'class Kind(models.TextChoices):\n    ONE = "one", _("one")\n'
            'name = CharField(help_text=_("for staff"))\n',
            4,
        ),
        ("templates/staff/x.html", '{% load i18n %}\n{% translate "Log in" %}\n', 2),
        ("templates/review/admin/x.html", "{% blocktranslate %}a{% endblocktranslate %}", 1),
    ],
)
def test_a_planted_mark_is_found(name: str, text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text)
    for public in ("collection/views/x.py", "wwd/base/errors.py"):
        (tmp_path / public).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / public).write_text('from django.utils.translation import gettext as _\n_("A dish")\n')
    assert find_marked_staff_texts(tmp_path) == [f"{name}:{line}"]


def test_catalogues_of_languages_that_django_does_not_speak_hold_the_months() -> None:
    assert tuple(calendar.month_name[1:]) == MONTHS
    assert set(MONTHS) <= {text.one for text in list_texts("yo")}
    assert not set(MONTHS) <= {text.one for text in list_texts("fr")}


def test_a_language_without_a_catalogue_lacks_every_text() -> None:
    assert list_untranslated_texts("tlh") == list_texts("tlh") == list_texts("fr") != ()


def test_empty_and_fuzzy_translations_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "django.po"
    path.write_text(
        'msgid "One"\nmsgstr "Un"\n\nmsgid "Two"\nmsgstr ""\n\n#, fuzzy\nmsgid "Three"\nmsgstr "Tri"\n\n'
        'msgid "%(n)d dish"\nmsgid_plural "%(n)d dishes"\nmsgstr[0] "%(n)d plat"\nmsgstr[1] ""\n'
    )
    found = read_catalogue(path)
    assert [text.one for text in found.texts] == ["One", "Two", "Three", "%(n)d dish"]
    assert [tuple(text) for text in found.untranslated] == [
        ("Two", ""),
        ("Three", ""),
        ("%(n)d dish", "%(n)d dishes"),
    ]


needs_gettext = pytest.mark.skipif(
    shutil.which("xgettext") is None, reason="GNU gettext is not installed (Debian: apt-get install gettext)"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources and catalogues: `makemessages` writes beside the templates."""
    for path in ROOT.glob("*/**/*"):
        name = path.relative_to(ROOT)
        if name.parts[0] in (*PACKAGES, "locale", "templates") and path.suffix in (".html", ".json", ".po", ".py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tmp_path / name)
    (tmp_path / "script").mkdir()
    shutil.copyfile(ROOT / "script" / "messages.py", tmp_path / "script" / "messages.py")
    return tmp_path


def update_catalogues(root: Path) -> str:
    command = [sys.executable, str(root / "script" / "messages.py")]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


@needs_gettext
def test_catalogues_are_in_step_with_the_sources(copy: Path) -> None:
    """Mended by: .venv/bin/python script/messages.py"""
    update_catalogues(copy)
    for path in SOURCES:
        renewed = (copy / path.relative_to(ROOT)).read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8") == renewed, path


@needs_gettext
def test_new_texts_are_empty_old_ones_go_and_a_new_language_has_all(copy: Path) -> None:
    (copy / "templates" / "404.html").write_text(
        '{% load i18n %}{% translate "A text like no other" %}'
        "{% blocktranslate count n=n %}{{ n }} spoon{% plural %}{{ n }} spoons{% endblocktranslate %}"
    )
    (copy / "review" / "new.py").write_text(
        'from django.utils.translation import gettext as _\n_("For reviewers")\n_("For " "several")\n_(title)\n'
    )
    catalogues = copy / "locale"
    shutil.rmtree(catalogues / "yo")
    before = {text.one for text in list_texts("fr")}
    shown = update_catalogues(copy)
    assert "fr: 2 of " in shown and "ar: 4 of " in shown

    french = polib.pofile(str(catalogues / "fr" / "LC_MESSAGES" / "django.po"))
    after = {entry.msgid: entry for entry in french}
    assert set(after) - before == {"A text like no other", "%(n)s spoon"}
    assert before - set(after)
    assert after["%(n)s spoon"].msgstr_plural == {0: "", 1: ""}
    assert all(entry.translated() for text, entry in after.items() if text in before)
    assert french.metadata["X-Wording"] == "draft"

    arabic = {entry.msgid: entry for entry in polib.pofile(str(catalogues / "ar" / "LC_MESSAGES" / "django.po"))}
    assert {"For reviewers", "For several"} <= set(arabic)
    assert arabic["%(n)s spoon"].msgstr_plural == dict.fromkeys(range(6), "")

    new = polib.pofile(str(catalogues / "yo" / "LC_MESSAGES" / "django.po"))
    assert {entry.msgid for entry in new} == {*after, *MONTHS}
    assert not new.translated_entries() and not new.metadata_is_fuzzy
    assert (new.metadata["Plural-Forms"], new.metadata["X-Wording"]) == ("nplurals=1; plural=0;", "draft")
    assert (catalogues / "yo" / "LC_MESSAGES" / "django.mo").exists()
