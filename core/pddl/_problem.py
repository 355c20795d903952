"""Problem text → typed model, over a domain that has been read."""

from __future__ import annotations

from ._definition import open_definition, sections
from ._features import planner_support
from ._formulas import number_of, read_condition, read_number
from ._lint import lint_problem
from ._model import And, Atom, Domain, Formula, NumericExpression, Problem
from ._scope import Scope
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["read_problem"]

_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":constraints")


def read_problem(source: Source, domain: Domain, inner: Scope | None = None) -> Problem | None:
    """Read a problem over `domain`; None when there is nothing to build a model from.

    `inner` is the scope in which the domain was read.

    Faults go to `source.diagnostics`; what they leave out is missing from the model.
    """
    opened = open_definition(source, "problem")
    if opened is None:
        return None
    name, nodes, form = opened
    parts = sections(nodes, source, _SECTIONS, frozenset())
    scope = Scope.of_domain(domain, source, inner)
    end = (form.end - 1, form.end)
    _check_domain_name(parts[":domain"], domain, source, form.items[1] if form.items[1:] else form)
    objects = [o for f in parts[":objects"] for o in scope.declare_objects(f.items[1:], "object")]
    init, values = _read_init(parts[":init"], scope, end)
    goal: Formula = And()
    for section in parts[":goal"]:
        goal = _read_goal(section, scope)
    if not parts[":goal"]:
        source.report("missing-section", end, "A problem needs `(:goal …)`.")
    if parts[":constraints"]:
        scope.features.add(":constraints")
    metric = _read_metric(parts[":metric"], scope)
    scope.finish()
    problem = Problem(
        name=name,
        domain=domain,
        objects=tuple(objects),
        init=init,
        values=values,
        goal=goal,
        metric=metric,
        features=frozenset(scope.features),
    )
    sound = inner is None or not inner.source.has_errors
    if sound and not source.has_errors:
        _note_refusals(problem, scope, form)
        lint_problem(problem, scope, init=parts[":init"][0], goal=parts[":goal"][0])
    return problem


def _note_refusals(problem: Problem, scope: Scope, form: Form) -> None:
    """Say what PDDL allows and the planners here do not."""
    features = problem.features | problem.domain.features
    lacking = planner_support(features)
    if all(lacking.values()):
        message = "No planner here can take the problem: Fast Downward lacks"
        scope.source.report(
            "planner-refuses", form.items[1], f"{message} {lacking['fast-downward']}."
        )


def _read_goal(section: Form, scope: Scope) -> Formula:
    if len(section.items) == 2:
        condition = section.items[1]
        if isinstance(condition, Form) and not condition.items:
            message = "The goal is an empty form, which Fast Downward refuses."
            scope.source.report("malformed", condition, message, "Write `(and …)`.")
        return read_condition(condition, scope)
    words = [i.key for i in section.items[1:] if isinstance(i, Symbol)]
    if any(word in ("and", "or") for word in words):
        scope.source.report(
            "infix-operator",
            section,
            "`and` and `or` stand before their parts in PDDL, not between them.",
            "Write `(:goal (and (…) (…)))`.",
        )
    else:
        scope.source.report(
            "malformed",
            section,
            f"`:goal` takes one condition, here it has {len(section.items) - 1}.",
            "Join several conditions by `(and …)`." if len(section.items) > 2 else None,
        )
    return And(
        tuple(read_condition(item, scope) for item in section.items[1:] if isinstance(item, Form))
    )


def _check_domain_name(forms: list[Form], domain: Domain, source: Source, head: Node) -> None:
    if not forms:
        source.report(
            "missing-section",
            head,
            "A problem names its domain.",
            f"Write `(:domain {domain.name or 'NAME'})` after the problem's name.",
        )
        return
    given = forms[0].items[1] if len(forms[0].items) == 2 else None
    if not isinstance(given, Symbol):
        source.report("malformed", forms[0], "Expected `(:domain NAME)`.")
    elif domain.name and given.key != domain.name.lower():
        source.report(
            "domain-mismatch",
            given,
            f"The problem is for domain `{given.text}`, the domain given is `{domain.name}`.",
            f"Write `(:domain {domain.name})`.",
        )


def _read_init(
    forms: list[Form], scope: Scope, end: tuple[int, int]
) -> tuple[tuple[Atom, ...], dict[Atom, float]]:
    facts: dict[Atom, None] = {}
    values: dict[Atom, float] = {}
    for section in forms:
        for item in section.items[1:]:
            _read_initial(item, scope, facts, values)
    if not forms:
        scope.source.report("missing-section", end, "A problem needs `(:init …)`.")
    elif not facts and not values and not any(len(f.items) > 1 for f in forms):
        scope.source.report("empty-init", forms[0], "No fact is true at the start.")
    return tuple(facts), values


def _read_initial(
    node: Node, scope: Scope, facts: dict[Atom, None], values: dict[Atom, float]
) -> None:
    source = scope.source
    if isinstance(node, Symbol):
        source.report(
            "malformed", node, "An initial fact is a form.", f"Write `({node.text.strip(',')})`."
        )
        return
    if (variable := _first_variable(node)) is not None:
        source.report(
            "variable-in-init",
            variable,
            f"Variable `{variable.text}` cannot stand in the initial state.",
            "List the facts for each object.",
        )
        return
    match node.key:
        case "and":
            source.report(
                "malformed",
                node,
                "`:init` is a list of facts, without `and`.",
                "Remove `(and … )`.",
            )
            for item in node.items[1:]:
                _read_initial(item, scope, facts, values)
        case "not":
            source.report(
                "negative-init",
                node,
                "What is not listed is false: a negated initial fact says nothing.",
                "Remove it.",
            )
            for item in node.items[1:]:
                if isinstance(item, Form):
                    scope.atom(item, scope.predicates, "predicate")
        case "=" if len(node.items) == 3:
            _read_value(node, scope, values)
        case "at" if len(node.items) == 3 and _is_time(node.items[1]):
            scope.features.add(":timed-initial-literals")
        case _:
            atom = scope.atom(node, scope.predicates, "predicate")
            if atom is not None and atom in facts:
                source.report("repeated-fact", node, f"`{atom}` stands here again.", "Remove it.")
            elif atom is not None:
                facts[atom] = None


def _read_value(node: Form, scope: Scope, values: dict[Atom, float]) -> None:
    target = node.items[1]
    if isinstance(target, Symbol):
        target = Form((target,), target.start, target.end)
    function = scope.atom(target, scope.functions, "function")
    if isinstance(node.items[2], Symbol) and node.items[2].key in scope.objects:
        scope.features.add(":object-fluents")
        return
    value = read_number(node.items[2], scope, node)
    if function is not None and isinstance(value, float):
        values[function] = value


def _read_metric(forms: list[Form], scope: Scope) -> tuple[str, NumericExpression] | None:
    if not forms:
        return None
    form = forms[0]
    direction = form.items[1] if len(form.items) == 3 else None
    if not isinstance(direction, Symbol) or direction.key not in ("minimize", "maximize"):
        scope.source.report("malformed", form, "Expected `(:metric minimize EXPRESSION)`.")
        return None
    node = form.items[2]
    if isinstance(node, Symbol) and node.key in ("total-time", "total-cost"):
        node = Form((node,), node.start, node.end)
    if isinstance(node, Form) and node.key == "total-time":
        return direction.key, 0.0
    expression = read_number(node, scope, form)
    if not (isinstance(expression, Atom) and expression.predicate.lower() == "total-cost"):
        scope.features.add(":numeric-fluents")
    return direction.key, expression


def _first_variable(node: Form) -> Symbol | None:
    for item in node.items[1:]:
        if isinstance(item, Symbol) and item.text.startswith("?"):
            return item
    return None


def _is_time(node: Node) -> bool:
    return isinstance(node, Symbol) and number_of(node.text) is not None
