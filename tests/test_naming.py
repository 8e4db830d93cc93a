"""Names that the code shows to others: no word that the glossary replaces, none that says too little, errors as such.

A failure names file and line.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.import_graph import ROOT, Graph
from wwd.base.packages import PACKAGES

# A row of the table in docs/glossary.md: words that names do not have, and what they are called instead.
ROW = re.compile(r"^\| (`[^|]+) \| ([^|]+) \|$", re.MULTILINE)


def read_forbidden_words() -> dict[str, str]:
    """Word → what it is called instead, from docs/glossary.md."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return {word: term for words, term in ROW.findall(text) for word in re.findall(r"`(\w+)`", words)}


FORBIDDEN = read_forbidden_words()
# Names that stay because something outside of the code has them: tables, stored keys, variables, commands.
STORED = frozenset(
    {
        *("AboutYou", "AboutYouAdmin", "KeptReport", "FirstLook", "Purpose.ABOUT"),
        *("Reviewer.keep_answers", "ReviewerBackground.told_at"),
        *("TidyTable.about", "Rewritten.name_kept", "Rewritten.countries_kept"),
        *("ExportJob.pictures", "ExportJob.picture_count", "ExportForm.pictures"),
        *("BEHIND_TLS_PROXY", "DATABASE_KEEP_SECONDS", "import_pictures"),
    }
)
# Names that Django asks for.
OF_DJANGO = frozenset({"urlpatterns", "Command", "Meta", "Media"})
MOST_MODULES = 2
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
CONDITIONS = ("NotFound",)


class Name(NamedTuple):
    """A name that a module, or a class of it (`owner`), defines; `line` of its file."""

    module: str
    owner: str
    name: str
    line: int
    node: ast.AST

    @property
    def whole(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


def split_words(name: str) -> list[str]:
    """The words of a name in snake or camel case, in lower case."""
    return [word.lower() for word in WORDS.findall(name)]


def list_names(module: str, body: list[ast.stmt], owner: str = "") -> Iterator[Name]:
    """The public names of a module or class: functions, classes with their methods and fields, constants."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = [node.name]
        elif isinstance(node, ast.AnnAssign):
            found = [node.target.id] if isinstance(node.target, ast.Name) else []
        elif isinstance(node, ast.Assign):
            found = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            continue
        yield from (Name(module, owner, name, node.lineno, node) for name in found if not name.startswith("_"))
        if isinstance(node, ast.ClassDef):
            yield from list_names(module, node.body, node.name)


def parse_modules(graph: Graph) -> dict[str, ast.Module]:
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in graph.modules.items()}


def place(graph: Graph, name: Name) -> str:
    return f"{graph.modules[name.module].relative_to(graph.root)}:{name.line}"


def find_forbidden_words(graph: Graph) -> list[str]:
    """One line for each public name with a word that the glossary replaces, modules among them."""
    wrong = []
    for module, tree in parse_modules(graph).items():
        file = Name(module, "", module.rpartition(".")[2], 1, tree)
        for name in (file, *list_names(module, tree.body)):
            if name.whole in STORED or name.owner in STORED or name.name in STORED:
                continue
            wrong += [
                f"{place(graph, name)} {name.whole}: “{word}” is called {FORBIDDEN[word]}"
                for word in split_words(name.name)
                if word in FORBIDDEN
            ]
    return wrong


def list_uses(graph: Graph, module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(module, name) of what this module takes from others: imported, or as `module.name`."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in graph.modules:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                elif node.module != module:
                    yield node.module, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def find_bare_words(graph: Graph) -> list[str]:
    """Names of one bare word in more than two modules: functions, and whatever else other modules use."""
    trees = parse_modules(graph)
    used = {use for module, tree in trees.items() for use in list_uses(graph, module, tree)}
    found: dict[str, list[Name]] = defaultdict(list)
    for module, tree in trees.items():
        for name in list_names(module, tree.body):
            public = isinstance(name.node, ast.FunctionDef) or (module, name.name) in used
            if not name.owner and public and len(split_words(name.name)) == 1 and name.name not in OF_DJANGO:
                found[name.name].append(name)
    return [
        f"{place(graph, name)} {name.name}: one bare word in {len(names)} modules"
        for names in found.values()
        for name in names
        if len(names) > MOST_MODULES
    ]


def find_unnamed_errors(graph: Graph) -> list[str]:
    """Exceptions whose names neither end in Error nor say the condition."""
    wrong = []
    for module, tree in parse_modules(graph).items():
        for name in list_names(module, tree.body):
            if isinstance(name.node, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in name.node.bases]
                if any(base.endswith(("Error", "Exception", *CONDITIONS)) for base in bases) and not name.name.endswith(
                    ("Error", *CONDITIONS)
                ):
                    wrong.append(f"{place(graph, name)} {name.name}: an exception ends in Error or says the condition")
    return wrong


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.read(ROOT, PACKAGES)


def test_no_public_name_has_a_word_that_the_glossary_replaces(graph: Graph) -> None:
    assert find_forbidden_words(graph) == []


def test_no_public_name_of_one_bare_word_is_in_more_than_two_modules(graph: Graph) -> None:
    assert find_bare_words(graph) == []


def test_exceptions_end_in_error_or_say_the_condition(graph: Graph) -> None:
    assert find_unnamed_errors(graph) == []


def test_the_glossary_lists_forbidden_words() -> None:
    assert FORBIDDEN["picture"] == "image" and len(FORBIDDEN) > 20


def test_names_that_stay_still_exist(graph: Graph) -> None:
    names = {module.rpartition(".")[2] for module in graph.modules}
    for module, tree in parse_modules(graph).items():
        names |= {name.whole for name in list_names(module, tree.body)}
    assert STORED - names == set()


def plant(root: Path, files: dict[str, str]) -> Graph:
    """The graph of a tree with these files in `collection`."""
    (root / "collection").mkdir()
    for name, text in {"__init__": "", **files}.items():
        (root / "collection" / f"{name}.py").write_text(text)
    return Graph.read(root, ("collection",))


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("pictures", "", 1),
        ("views", "\ndef show_picture() -> None: ...\n", 2),
        ("views", "class KeptRow: ...\n", 1),
        ("views", "class Row:\n    def tell(self) -> None: ...\n", 2),
        ("views", "class Row:\n    about: str\n", 2),
        ("views", "MOST_DOORS = 3\n", 1),
    ],
)
def test_a_planted_word_is_found(file: str, text: str, line: int, tmp_path: Path) -> None:
    [found] = find_forbidden_words(plant(tmp_path, {file: text}))
    assert found.startswith(f"collection/{file}.py:{line} ")


def test_a_planted_bare_word_is_found(tmp_path: Path) -> None:
    function = "def count() -> None: ...\n"
    files = dict.fromkeys(("a", "b", "c"), function)
    wrong = find_bare_words(plant(tmp_path, files))
    assert wrong == [f"collection/{name}.py:1 count: one bare word in 3 modules" for name in ("a", "b", "c")]


def test_a_constant_counts_where_another_module_uses_it(tmp_path: Path) -> None:
    files = dict.fromkeys(("a", "b", "c"), "MOST = 1\n")
    user = "from collection import a, b\nfrom collection.c import MOST\nprint(a.MOST, b.MOST, MOST)\n"
    assert len(find_bare_words(plant(tmp_path, {**files, "user": user}))) == 3
    (tmp_path / "collection" / "user.py").write_text("from collection import a\nprint(a.MOST)\n")
    assert find_bare_words(Graph.read(tmp_path, ("collection",))) == []


def test_a_planted_exception_is_found(tmp_path: Path) -> None:
    text = "class Lost(Exception): ...\n\n\nclass DishNotFound(LookupError): ...\n\n\nclass LostError(Exception): ...\n"
    assert find_unnamed_errors(plant(tmp_path, {"errors": text})) == [
        "collection/errors.py:1 Lost: an exception ends in Error or says the condition"
    ]
