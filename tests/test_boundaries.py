"""What holds everywhere: import directions, sizes, documented settings, tables and dependencies, no outside host."""

import ast
import gzip
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.urls import resolve
from django.utils.module_loading import import_string

from collection import urls as collection_urls
from evaluation.registry.names import TABLES
from evaluation.studies import STUDIES
from review import urls as review_urls
from tests import scheduling
from tests.import_graph import (
    Graph,
    against_the_grain,
    circles,
    find_database_tests,
    imported,
    name_of,
    reach_tests,
    sources,
)
from tests.public_pages import NOWHERE, render_public_pages
from wwd.base.languages import split_language
from wwd.base.packages import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "transformers", "diffusers", "accelerate", "openai")
FIRST_VIEW = 14_600
# Packages outside our own that a package may not import.
FORBIDDEN = {
    "evaluation/metrics": ("django", "requests", "pathlib"),
    "evaluation/readers": ("django", "requests", "pathlib"),
    "evaluation/contracts": ("django", "requests"),
    "evaluation/studies": ("django.db", "evaluation.models", "collection.models"),
    "wwd/settings.py": tuple(name for name in PACKAGES if name != "wwd"),
    "wwd/base/env.py": ("django",),
}
MOST_MODULES = 25


def project_sources() -> list[Path]:
    return [path for package in PACKAGES for path in sources(ROOT / package)]


def imports(path: Path, *, top_level: bool = False) -> Iterator[str]:
    """Dotted names that a module imports; with `top_level`, only those run when it is loaded."""
    tree = ast.parse(path.read_text())
    name, package = name_of(path) if path.is_relative_to(ROOT) else path.stem, path.name == "__init__.py"
    for node in tree.body if top_level else ast.walk(tree):
        yield from imported(node, name, package)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.read()


def test_every_import_goes_one_way(graph: Graph) -> None:
    assert against_the_grain(graph) == []


def test_no_files_import_each_other(graph: Graph) -> None:
    assert circles(graph) == []


@pytest.mark.parametrize("place", FORBIDDEN)
def test_packages_that_stay_pure_import_nothing_impure(place: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(ROOT / place)
        for name in imports(path)
        if any(within(name, package) for package in FORBIDDEN[place])
    ]
    assert wrong == []


def modules_of(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.py") if path.name != "__init__.py"]


def packages() -> list[Path]:
    return [path.parent for path in project_sources() if path.name == "__init__.py"]


def test_no_folder_has_more_modules_than_one_can_look_over() -> None:
    assert {
        str(folder): len(modules_of(folder)) for folder in packages() if len(modules_of(folder)) > MOST_MODULES
    } == {}
    assert len(modules_of(ROOT / "evaluation")) <= 15


def test_every_package_says_in_five_lines_what_is_in_it() -> None:
    wrong = []
    for folder in packages():
        if folder.name in ("management", "commands", "templatetags"):
            continue
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        if not 1 <= len(text.splitlines()) <= 5:
            wrong.append(f"{folder.relative_to(ROOT)}/__init__.py:1 needs a docstring of one to five lines")
    assert wrong == []


PLANTED = {
    "function": ("evaluation/metrics/offender.py", "def late() -> None:\n    from evaluation.models import Run\n"),
    "type": (
        "collection/offender.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from review.models import Review\n",
    ),
    "relative": ("evaluation/readers/offender.py", "from ..tables import store\n"),
    "string": ("evaluation/registry/offender.py", 'PATH = "review.models:Review"\n'),
    "no layer": ("other/offender.py", ""),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_import_against_the_grain_is_found(kind: str, tmp_path: Path) -> None:
    name, text = PLANTED[kind]
    for file in ("evaluation/models.py", "review/models.py", "evaluation/tables/store.py", name):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        for folder in (tmp_path / file).relative_to(tmp_path).parents:
            (tmp_path / folder / "__init__.py").touch()
        (tmp_path / file).write_text(text if file == name else "")
    found = against_the_grain(Graph.read(tmp_path, (*PACKAGES, "other")))
    assert {line.partition(":")[0] for line in found if "offender" in line} == {name}


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    for name, text in {"a": "from . import b\n", "b": "def late():\n    import collection.a\n", "__init__": ""}.items():
        (tmp_path / "collection").mkdir(exist_ok=True)
        (tmp_path / "collection" / f"{name}.py").write_text(text)
    assert circles(Graph.read(tmp_path, ("collection",))) == [["collection.a", "collection.b"]]


def test_packages_are_listed_once() -> None:
    """Settings, checks, tests and replication packages read one list; coverage.py's file cannot, so it is compared."""
    settings_of_tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(settings_of_tools["tool"]["coverage"]["run"]["source"]) == sorted(PACKAGES)
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders - {"tests", "bench"} == set(PACKAGES)
    paths = [path for start in (*PACKAGES, "tests", "bench", "script") for path in sources(ROOT / start)]
    assert [found for path in paths for found in other_lists(path)] == []


def other_lists(path: Path) -> Iterator[str]:
    """Places (`file:line`) where a list names three packages or more by themselves."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            named = {item.value for item in node.elts if isinstance(item, ast.Constant)} & set(PACKAGES)
            if len(named) > 2 and path.name not in ("packages.py", "import_graph.py"):
                yield f"{path}:{node.lineno}"


def test_a_second_list_of_packages_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text('OURS = ("collection", "evaluation", "review")\nONE = ("wwd", "auth")\n')
    assert list(other_lists(tmp_path / "other.py")) == [f"{tmp_path / 'other.py'}:1"]


def test_only_backends_import_heavy_packages_and_only_inside_their_loaders() -> None:
    wrong = []
    for path in project_sources():
        at_door = path.is_relative_to(ROOT / "evaluation" / "backends")
        names = imports(path, top_level=at_door)
        wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in names if name.split(".")[0] in HEAVY]
    assert wrong == []


def test_reading_an_import_against_the_grain_is_noticed(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def late() -> None:\n    from review.models import Review\n")
    assert list(imports(module)) == ["review.models.Review"]
    assert list(imports(module, top_level=True)) == []


@pytest.mark.parametrize("path", [*STUDIES.values(), *TABLES.values()])
def test_every_entry_of_the_tables_loads(path: str) -> None:
    assert import_string(path.replace(":", "."))


def test_every_environment_variable_is_documented() -> None:
    names = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (ROOT / "wwd" / "settings.py").read_text())
    text = (ROOT / "docs" / "operations" / "settings.md").read_text()
    assert len(names) > 8
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_chosen_dependency_has_its_reason() -> None:
    text = (ROOT / "docs" / "architecture" / "dependencies.md").read_text().lower()
    lines = "\n".join((ROOT / name).read_text() for name in ("requirements.txt", "requirements-dev.txt"))
    direct = [line.split("==")[0].strip().lower() for line in lines.splitlines() if "==" in line and "# why:" in line]
    assert len(direct) > 10
    assert [name for name in direct if f"`{name.split('[')[0]}`" not in text] == []


def test_modules_and_functions_stay_readable_at_a_sitting() -> None:
    lengths = []
    for path in project_sources():
        text = path.read_text()
        assert len(text.splitlines()) <= 500, path
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, functions)]
        lengths += [(node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes]
    lengths.sort()
    assert lengths[int(len(lengths) * 0.9)] <= 32


def test_pages_and_styles_name_no_outside_host() -> None:
    pattern = re.compile(r"""(?:src|href|action)=["'](?:https?:)?//|url\(["']?(?:https?:)?//|@import""")
    files = [path for name in ("templates", "static") for path in (ROOT / name).rglob("*") if path.is_file()]
    assert [str(path) for path in files if pattern.search(path.read_text(errors="ignore"))] == []


# Files that people take along: opened from the phone itself, where neither our policy nor our stylesheet reaches them.
TAKEN_ALONG = frozenset({"taken_along.html", "collection/taken_along.html", "review/taken_along.html"})


def test_no_inline_style_or_script_that_the_content_policy_would_drop() -> None:
    pattern = re.compile(r"\sstyle=|<style|<script(?![^>]*\bsrc=)|\son[a-z]+=", re.IGNORECASE)
    files = [path for path in (ROOT / "templates").rglob("*.html") if "mail" not in path.parts]
    files = [path for path in files if str(path.relative_to(ROOT / "templates")) not in TAKEN_ALONG]
    assert [str(path) for path in files if pattern.search(path.read_text())] == []


def test_tracked_files_hold_no_published_data() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not tracked:
        pytest.skip("not a git checkout")
    assert [name for name in tracked.splitlines() if "WorldWideDishes_2024" in name or "Community_Review" in name] == []


# Public addresses that answer with something else than a page.
NO_PAGES = frozenset(
    {
        *("collection:queued", "collection:worker", "collection:photo-part", "collection:withdrawn-json"),
        *("collection:ingredients", "collection:recording", "collection:photo-file", "review:picture"),
    }
)


def public_addresses() -> set[str]:
    """The names of all addresses that somebody without an account can open."""
    apps = {"collection": collection_urls.urlpatterns, "review": review_urls.urlpatterns}
    return {f"{app}:{pattern.name}" for app, patterns in apps.items() for pattern in patterns if pattern.name}


def public_templates() -> set[str]:
    """The templates of all pages that somebody without an account can see."""
    folders = [ROOT / "templates", ROOT / "templates" / "collection", ROOT / "templates" / "review"]
    return {str(path.relative_to(ROOT / "templates")) for folder in folders for path in folder.glob("*.html")}


@pytest.mark.embedded
@pytest.mark.django_db
def test_every_public_address_and_template_is_among_the_faces_that_tests_look_at() -> None:
    """A new one fails here until `tests/public_pages.py` goes there."""
    pages = [response for response in render_public_pages("en").values() if hasattr(response, "request")]
    paths = {split_language(response.request["PATH_INFO"])[1] for response in pages}
    seen = {resolve(path).view_name for path in paths - {NOWHERE}}
    assert public_addresses() - NO_PAGES - seen == set()
    rendered = {template.name for response in pages for template in getattr(response, "templates", [])}
    assert (
        public_templates() - TAKEN_ALONG - rendered - {"400.html", "403.html", "413.html", "500.html", "503.html"}
        == set()
    )


@pytest.mark.django_db
@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_every_public_page_stays_within_its_bytes_in_every_language(language: str) -> None:
    """As it is sent where the browser takes gzip; tests/browser fetches pages from a real server."""
    style = len(gzip.compress((ROOT / "static" / "site.css").read_bytes()))
    sizes = {name: bytes_of(response) + style for name, response in render_public_pages(language).items()}
    assert {name: size for name, size in sizes.items() if size > FIRST_VIEW} == {}


@pytest.mark.django_db
def test_every_public_page_needs_two_requests_and_no_classic_script() -> None:
    for name, response in render_public_pages("en").items():
        html = response.content.decode()
        assert len(re.findall(r'<link rel="stylesheet"', html)) == 1, name
        assert not re.search(r"<script(?![^>]*type=\"module\")|<link[^>]*rel=\"(?:pre|mani)", html), name
        # Images come when they are asked for (review), or when somebody scrolls to them.
        images = re.findall(r"<img (?![^>]*loading=\"lazy\")", html)
        assert not images or name.startswith("review, "), name


def bytes_of(response: HttpResponse) -> int:
    """What goes over the line: pages with codes and personal details are never compressed."""
    plain = getattr(response, "never_compress", False)
    return len(response.content if plain else gzip.compress(response.content))


def test_every_test_that_a_database_can_change_is_marked() -> None:
    """`.ci/run` runs these on both databases: add `pytestmark = pytest.mark.embedded` to the file.

    `own_processes` may stand there instead, where all processes are given services of their own.
    """
    texts = {path: (ROOT / path).read_text() for path in find_database_tests()}
    unmarked = [path for path, text in texts.items() if "mark.embedded" not in text and "own_processes" not in text]
    assert [f"{path}:1 needs the mark embedded" for path in unmarked] == []


def test_tests_of_their_own_processes_ask_no_database_of_the_run() -> None:
    """What the mark own_processes takes out of the second pass comes out the same in both."""
    database = re.compile(r"django_db|transactional_db|live_server|\bdb:|connection\.vendor|\bDATABASE_URL\"\]")
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)}
    marked = [path for path, text in texts.items() if "mark.own_processes" in text]
    assert len(marked) >= 4
    assert [path.name for path in marked if database.search(texts[path])] == []


def test_what_runs_in_one_process_exists() -> None:
    starts = [start for starts in scheduling.TOGETHER.values() for start in starts]
    assert [start for start in (*starts, *scheduling.ORDER) if not [*ROOT.glob(f"{start}*")]] == []


def test_a_planted_test_of_a_database_is_found(tmp_path: Path) -> None:
    texts = {
        "collection/locks.py": "rows = Dish.objects.select_for_update()\n",
        "collection/words.py": "LONGEST = 3\n",
        "tests/test_locks.py": "import pytest\nfrom collection.locks import rows\n",
        "tests/test_words.py": "import pytest\nfrom collection.words import LONGEST\n",
        "tests/test_vendor.py": "SAYS = 'connection.vendor'\n",
        "wwd/settings.py": "",
        "wwd/urls.py": "",
        "collection/urls.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert find_database_tests(tmp_path) == [Path("tests/test_locks.py"), Path("tests/test_vendor.py")]


READERS = "tests/evaluation/readers/test_readers.py"
TEXT_RULES = "tests/collection/vocabularies/test_text_rules.py"


@pytest.mark.parametrize(
    ("changed", "reached", "spared"),
    [
        ("evaluation/metrics/entropy.py", "tests/evaluation/studies/test_colours.py", TEXT_RULES),
        ("collection/views/home.py", "tests/wwd/test_errors.py", READERS),
        ("wwd/settings.py", READERS, None),
        ("wwd/management/commands/reviews.py", "tests/review/tables/test_review_rows.py", READERS),
        ("templates/collection/dish.html", "tests/collection/views/test_journey.py", READERS),
        ("tests/browser/conftest.py", "tests/browser/test_offline_queue.py", READERS),
    ],
)
def test_the_tests_that_a_changed_file_reaches_are_found(changed: str, reached: str, spared: str | None) -> None:
    found = {str(path) for path in reach_tests([Path(changed)])}
    assert reached in found
    assert spared not in found
