"""A package's `__all__` is exactly what it makes public."""

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import llm_modulo

ROOT = Path(llm_modulo.__file__).parent


def packages_with_all() -> list[str]:
    found = []
    for file in sorted(ROOT.rglob("__init__.py")):
        if "__all__" in file.read_text(encoding="utf-8"):
            found.append(".".join(["llm_modulo", *file.parent.relative_to(ROOT).parts]))
    return found


def names(source: str) -> tuple[set[str], set[str]]:
    """The names without underscore that a package makes public, and those that it may make public.

    It makes public what it defines, and what it imports from within llm_modulo without a use of
    its own for it. What it imports and uses, for a registry, say, it may make public or not. What
    it imports from elsewhere (typing, the standard library) is never public.
    """
    tree = ast.parse(source)
    defined: set[str] = set()
    imported: set[str] = set()
    statements = list(tree.body)
    while statements:
        node = statements.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            if node.level or (node.module or "").split(".")[0] == "llm_modulo":
                imported |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.If | ast.Try | ast.With):
            statements += node.body + getattr(node, "orelse", [])
    used = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    public = {name for name in defined | imported - used if not name.startswith("_")}
    return public, public | imported


@pytest.mark.parametrize("name", packages_with_all())
def test_all_is_exactly_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    assert len(module.__all__) == len(set(module.__all__))
    missing = [entry for entry in module.__all__ if not hasattr(module, entry)]
    assert missing == [], "in __all__, but not there"

    public, allowed = names(Path(str(module.__file__)).read_text(encoding="utf-8"))
    public = {n for n in public if not isinstance(getattr(module, n, None), ModuleType)}
    promised = {entry for entry in module.__all__ if not entry.startswith("_")}
    assert sorted(public - promised) == [], "public, but not in __all__"
    if not hasattr(module, "__getattr__"):  # a lazy package makes more than it defines
        assert sorted(promised - allowed) == [], "in __all__, but not ours"


def test_every_package_with_public_names_has_all() -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in sorted(ROOT.rglob("__init__.py"))
        if names(source := file.read_text(encoding="utf-8"))[0] and "__all__" not in source
    ]
    assert silent == []


def test_what_is_public_is_told_from_what_is_used() -> None:
    public, allowed = names(
        "from typing import Any\nfrom ._x import a, b as c, _d\nfrom llm_modulo.y import e, f\n"
        "g: dict[str, Any] = {'f': f}\n_h = 2\ndef i(): ...\nif TYPE_CHECKING:\n"
        "    from .z import j\n"
    )
    assert public == {"a", "c", "e", "g", "i", "j"}
    assert allowed - public == {"_d", "f"}
