"""Which texts the public pages say, read from the sources, and which of them a catalogue translates.

Texts for staff are in English and stay out. The review speaks the languages of its questionnaires.
"""

import ast
import calendar
import gettext
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import django
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
REVIEWED = frozenset({"ar"})
STAFF = (
    *("admin/*.py", "apps.py", "models/consent.py", "models/rights.py", "consent/readiness.py"),
    *("withdrawal/tombstones.py", "campaigns/readiness.py"),
    *("tables/*.py", "people_machine/*.py", "drilldown/*.py"),
)
FUNCTIONS = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"})
QUOTED = r"(u(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))"
IN_TEMPLATE = re.compile(rf"\bn?gettext\({QUOTED}(?:, {QUOTED},)?")


class Text(NamedTuple):
    """What is said of one thing, and of several where that differs."""

    one: str
    several: str = ""


MONTHS = tuple(Text(name) for name in calendar.month_name[1:])


def list_public_sources(app: str) -> Iterator[Path]:
    """Sources of an app whose texts are read by people who are no staff."""
    for path in sorted((ROOT / app).rglob("*.py")):
        if "migrations" not in path.parts and not any(path.match(f"{app}/{name}") for name in STAFF):
            yield path
    for path in sorted((ROOT / "templates" / app).rglob("*.html")):
        if "admin" not in path.parts:
            yield path


def list_required_texts(language: str) -> tuple[Text, ...]:
    """The texts that a catalogue of this language needs, in the order of the sources."""
    return (*collect_texts(language in REVIEWED), *(() if django_speaks(language) else MONTHS))


def django_speaks(language: str) -> bool:
    """Whether Django brings a catalogue of its own, with the names of months among others."""
    return (Path(django.__file__).parent / "conf" / "locale" / language).is_dir()


@cache
def collect_texts(review: bool) -> tuple[Text, ...]:
    common = [*sorted((ROOT / "templates").glob("*.html")), ROOT / "wwd" / "base" / "errors.py"]
    paths = [*common, *list_public_sources("collection"), *(list_public_sources("review") if review else ())]
    return tuple(dict.fromkeys(text for path in paths for text in texts_of(path)))


def texts_of(path: Path) -> Iterator[Text]:
    """The texts of one source file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        for found in IN_TEMPLATE.finditer(templatize(source)):
            yield Text(*(ast.literal_eval(part) for part in found.groups() if part))
        return
    tree = ast.parse(source)
    # Of models people read the names of choices; the rest explains columns to staff.
    for node in (
        ast.walk(tree)
        if path.name != "models.py" and path.parts[-2:] != ("models", "__init__.py")
        else in_choices(tree)
    ):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            said = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            if said:
                yield Text(*said[: 2 if node.func.id.startswith("n") else 1])


def in_choices(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything inside the classes of choices."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("TextChoices") for base in node.bases):
            yield from ast.walk(node)


def list_untranslated_texts(language: str) -> list[Text]:
    """The texts that the compiled catalogue of this language does not translate."""
    try:
        found = gettext.translation("django", Path(settings.LOCALE_PATHS[0]), [language])
    except FileNotFoundError:
        return list(list_required_texts(language))
    known = found._catalog  # type: ignore[attr-defined]
    return [text for text in list_required_texts(language) if text.one not in known and (text.one, 0) not in known]
