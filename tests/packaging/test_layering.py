"""Imports point down: core ← domains ← server, and core, domains ← agent ← eval."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BELOW = {
    "core": set(),
    "domains": {"core"},
    "server": {"core", "domains"},
    "agent": {"core", "domains"},
    "eval": {"core", "domains", "agent"},
}
SEES_EVERYTHING = {"cli.py"}
"""The command line hands the server object to the agent; it is the one file above all others."""


def layer(module: str) -> str:
    """The layer of a dotted name that starts with llm_modulo."""
    first = (module + ".").split(".")[1]
    return first if first in BELOW else "core"


def imported(tree: ast.Module, *, package: str, by_name: bool) -> Iterator[tuple[int, str]]:
    """(line, module of ours) for each import; `package` is what relative imports start from.

    With `by_name`, modules given as text to import_module count too.
    """
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif by_name and isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in {"import_module", "__import__"} and node.args:
                argument = node.args[0]
                names = [str(argument.value)] if isinstance(argument, ast.Constant) else []
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "llm_modulo")


def without_type_checking(tree: ast.Module) -> ast.Module:
    """The module as it runs: the blocks under `if TYPE_CHECKING:` are left out."""

    class Remover(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            self.generic_visit(node)
            is_guard = ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
            return node.orelse if is_guard else node

    return Remover().visit(tree)


def violations(package: Path) -> list[str]:
    """One line for each import that points up or sideways, in the folder of a package."""
    found = []
    for file in sorted(package.rglob("*.py")):
        relative = file.relative_to(package)
        if relative.as_posix() in SEES_EVERYTHING:
            continue
        dotted = ".".join(["llm_modulo", *relative.parent.parts])
        own = layer(".".join(["llm_modulo", *relative.with_suffix("").parts]))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if relative.as_posix() == "__init__.py":
            # The root offers the functions of all layers, fetched when they are first used; a
            # type checker has to be told where they come from.
            tree = without_type_checking(tree)
        for line, module in imported(tree, package=dotted, by_name=own != "core"):
            if layer(module) not in BELOW[own] | {own}:
                found.append(f"{relative.as_posix()}:{line} imports {module}")
    return found


def test_imports_point_down(package: Path) -> None:
    assert violations(package) == []


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("pddl/_parse.py", "import llm_modulo.domains"),
        ("outcomes.py", "from llm_modulo.eval import run"),
        ("outcomes.py", "from . import server"),
        ("__init__.py", "from llm_modulo.agent import loop"),
        ("domains/sokoban/_map.py", "from ...server import build"),
        ("domains/sokoban/__init__.py", "from ..._x import y; from ...agent import loop"),
        ("agent/loop.py", "def f():\n    from llm_modulo.server import build"),
        ("agent/loop.py", "importlib.import_module('llm_modulo.server')"),
        ("server/tools/solve.py", "from llm_modulo import agent"),
        ("eval/runner.py", "if TYPE_CHECKING:\n    import llm_modulo.server.limits as limits"),
    ],
)
def test_an_import_that_points_up_is_found(tmp_path: Path, file: str, statement: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(statement)
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("cli.py", "from llm_modulo.server import build"),
        ("__init__.py", "if TYPE_CHECKING:\n    from llm_modulo.eval import run"),
        ("__init__.py", "importlib.import_module('llm_modulo.eval')"),
        ("domains/sokoban/_map.py", "from ...pddl import parse; from ._rules import x"),
        ("eval/runner.py", "from llm_modulo.agent.loop import x; from llm_modulo import domains"),
    ],
)
def test_an_import_that_points_down_passes(tmp_path: Path, file: str, statement: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(statement)
    assert violations(tmp_path) == []
