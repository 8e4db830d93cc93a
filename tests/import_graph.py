"""The imports of the project's files: what imports what, and in which layer a file is.

Used by tests/test_boundaries.py and by `script/test --changed`. Imports inside functions and under `TYPE_CHECKING`
count, relative ones are resolved, and so are dotted names in strings that name a module of the project.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from wwd.base.packages import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
# A file may import its own package and packages left of it. The longest name counts.
LAYERS = (
    "wwd.base",
    "collection",
    *("evaluation.suggestions", "evaluation.batching", "evaluation.signals", "evaluation.queue"),
    *("evaluation.metrics", "evaluation.readers", "evaluation.contracts", "evaluation.models"),
    *("evaluation.content_store", "evaluation.counters", "evaluation.cached_counts"),
    *("evaluation.registry", "evaluation.plans", "evaluation.studies", "evaluation.novelty"),
    *("evaluation.tables", "evaluation.derived", "evaluation.subjects", "evaluation.images", "evaluation.backends"),
    *("evaluation.figures", "evaluation.overview", "evaluation.runner", "evaluation.ingest", "evaluation.drilldown"),
    *("evaluation.remote", "evaluation.worker_api"),
    *("evaluation.receivers", "evaluation.unmasking", "evaluation.seed_data", "evaluation.presentation"),
    *("evaluation.views", "evaluation.admin", "evaluation.templatetags", "evaluation.management"),
    *("evaluation.tasks", "evaluation.urls", "evaluation.apps", "evaluation"),
    "review",
    "wwd",
)
# What a module says that asks the database, or the broker, for something that SQLite and PostgreSQL, files and Redis do
# each in their own way.
DATABASE = re.compile(
    r"connection\.vendor|\.cursor\(|select_for_update|Key(?:Text)?Transform|RawSQL|(?:ignore|update)_conflicts"
    r"|skip_locked|\bCast\(|BROKER|sqlite"
)
# What a test says that opens pages.
PAGES = re.compile(r"\b(?:client|Client|stranger|browser|live_server|reverse|render_public_pages)\b")
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+(?::\w+)?")


@dataclass(frozen=True)
class Import:
    """One file imports another: `line` of the importing file; `by_name` where a string names it."""

    path: Path
    line: int
    target: str
    by_name: bool = False


@dataclass
class Graph:
    """The modules of a tree (dotted name → file) and their imports."""

    root: Path
    modules: Mapping[str, Path]
    imports: dict[str, list[Import]] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path = ROOT, packages: Sequence[str] = PACKAGES) -> "Graph":
        """Reads all files of `packages` under `root`, without migrations."""
        modules = {name_of(path, root): path for package in packages for path in sources(root / package)}
        graph = cls(root, modules)
        for name, path in modules.items():
            graph.imports[name] = list(graph.imports_of(name, path))
        return graph

    def module(self, dotted: str) -> str:
        """The module that a dotted name is or lies in; empty where it is none of ours."""
        while dotted and dotted not in self.modules:
            dotted = dotted.rpartition(".")[0]
        return dotted

    def imports_of(self, name: str, path: Path) -> Iterator[Import]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for dotted in imported(node, name, path.name == "__init__.py"):
                if (target := self.module(dotted)) and target != name:
                    yield Import(path, node.lineno, target)  # type: ignore[attr-defined]
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
                target = self.module(node.value.replace(":", "."))
                if target.count(".") and target != name:
                    yield Import(path, node.lineno, target, by_name=True)

    def reaching(self, changed: Iterable[str]) -> set[str]:
        """The modules that import one of `changed`, directly or through others, and these themselves."""
        importers: dict[str, set[str]] = {}
        for name, found in self.imports.items():
            for each in found:
                importers.setdefault(each.target, set()).add(name)
        reached, waiting = set[str](), list(changed)
        while waiting:
            if (name := waiting.pop()) not in reached:
                reached.add(name)
                waiting += importers.get(name, ())
        return reached


def sources(start: Path) -> list[Path]:
    """The Python files of a folder, or the file itself, without migrations."""
    if start.is_file():
        return [start]
    return [path for path in sorted(start.rglob("*.py")) if "migrations" not in path.parts]


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST, name: str, package: bool) -> Iterator[str]:
    """The dotted names that a statement of the module `name` imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = name.split(".")
            above = parts[: len(parts) - node.level + package]
            base = ".".join([*above, *([base] if base else [])])
        yield from (f"{base}.{alias.name}" for alias in node.names)


def layer_of(name: str) -> int | None:
    """The place in LAYERS that a module belongs to."""
    found = [
        (len(package), place)
        for place, package in enumerate(LAYERS)
        if name == package or name.startswith(f"{package}.")
    ]
    return max(found)[1] if found else None


def app_of(name: str) -> int:
    """Where the app of a module stands: what a string names may be higher in its own app, never in a higher app."""
    order = [layer for layer in LAYERS if layer in ("wwd.base", *PACKAGES)]
    return next(place for place, app in enumerate(order) if name == app or name.startswith(f"{app}."))


def against_the_grain(graph: Graph) -> list[str]:
    """One line `file:line imports module` for each import of something above, and for each file in no layer."""
    wrong = []
    for name, path in sorted(graph.modules.items()):
        if layer_of(name) is None:
            wrong.append(f"{path.relative_to(graph.root)}:1 is in no layer")
        for each in graph.imports[name]:
            mine, theirs = layer_of(name), layer_of(each.target)
            if each.by_name:
                up = app_of(each.target) > app_of(name) and not each.target.endswith(".tasks")
            else:
                up = mine is not None and theirs is not None and theirs > mine
            if up:
                wrong.append(f"{each.path.relative_to(graph.root)}:{each.line} imports {each.target}")
    return wrong


def circles(graph: Graph) -> list[list[str]]:
    """Files that import each other, directly or through others (Tarjan 1972); a package and its parts too."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for each in graph.imports[name]:
            if each.by_name:
                continue
            if each.target not in number:
                visit(each.target)
                low[name] = min(low[name], low[each.target])
            elif each.target in stack:
                low[name] = min(low[name], number[each.target])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in graph.modules:
        if name not in number:
            visit(name)
    return found


def reach_tests(changed: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """The test files whose imports reach one of the changed files (paths relative to `root`).

    Every test needs the settings; one that opens pages needs all addresses, one that calls a command needs it. A file
    that is no module counts as changed wherever a module names it: `collection/dish.html`, `world.json`. One that no
    module names reaches all tests; a conftest.py reaches those beside and below it.
    """
    graph, texts = read_with_tests(root)
    tests = {name: path for name, path in graph.modules.items() if path.name.startswith("test_")}
    by_path = {path.relative_to(root): name for name, path in graph.modules.items()}
    reached, everything_in = set[str](), list[Path]()
    for path in changed:
        if path.name == "conftest.py":
            everything_in.append(path.parent)
        elif path in by_path:
            reached.add(by_path[path])
        elif path.suffix != ".md":
            short = "/".join(path.parts[-2:]) if path.suffix == ".html" else path.name
            naming = {name for name, text in texts.items() if short in text}
            reached |= naming
            if not naming:
                everything_in.append(Path("tests"))
    found = graph.reaching(reached) & tests.keys()
    found |= {name for name, path in tests.items() if any(path.is_relative_to(root / each) for each in everything_in)}
    return sorted(tests[name].relative_to(root) for name in found)


@cache
def read_with_tests(root: Path) -> tuple[Graph, dict[str, str]]:
    """The graph of the project with its tests and what they need unwritten, and the text of each module."""
    graph = Graph.read(root, (*PACKAGES, "tests"))
    texts = {name: path.read_text(encoding="utf-8") for name, path in graph.modules.items()}
    # What the settings name (addresses, middleware, context processors) is at work where pages are opened.
    named = [each for each in graph.imports["wwd.settings"] if each.by_name]
    graph.imports["wwd.settings"] = [each for each in graph.imports["wwd.settings"] if not each.by_name]
    graph.imports["wwd.urls"] += [each for each in named if each.target != "wwd.urls"]
    graph.imports["collection.urls"] += [each for each in named if app_of(each.target) <= app_of("collection")]
    for name, path in graph.modules.items():
        if path.name.startswith("test_"):
            graph.imports[name] += [Import(path, 1, target) for target in unwritten_imports(name, texts[name], graph)]
    return graph, texts


def unwritten_imports(name: str, text: str, graph: Graph) -> Iterator[str]:
    """The modules that the test `name` needs without importing them."""
    yield "wwd.settings"
    if PAGES.search(text):
        yield "collection.urls" if name.startswith("tests.collection.") else "wwd.urls"
    for command in re.findall(r'call_command\(\s*"(\w+)"|manage\.py", "(\w+)"', text):
        ending = f".management.commands.{command[0] or command[1]}"
        yield from (name for name in graph.modules if name.endswith(ending))


def find_database_tests(root: Path = ROOT) -> list[Path]:
    """The test files that can come out otherwise with another database or broker.

    Those that say so themselves, and those that import a module which does; models, which all import, do not count.
    """
    graph, texts = read_with_tests(root)
    sensitive = {
        name
        for name, text in texts.items()
        if DATABASE.search(text) and not name.startswith("tests.") and ".models" not in name and name != "wwd.settings"
    }
    return sorted(
        path.relative_to(root)
        for name, path in graph.modules.items()
        if path.name.startswith("test_")
        and (
            DATABASE.search(texts[name])
            or any(each.target in sensitive and each.line > 1 for each in graph.imports[name] if not each.by_name)
        )
    )
