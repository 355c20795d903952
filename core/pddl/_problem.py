"""Problem text → typed model, over a domain that has been read."""

from __future__ import annotations

from collections.abc import Iterator

from ._constraints import read_constraint
from ._definition import open_definition, read_requirements, sections
from ._formulas import number_of, read_condition, read_number
from ._lint import lint_problem
from ._model import And, Atom, Domain, Formula, NumericExpression, Problem
from ._names import in_parentheses
from ._scope import Scope
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["read_problem"]

_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":constraints", ":metric")


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
    required = read_requirements(parts[":requirements"], source)
    end = (form.end - 1, form.end)
    _check_domain_name(parts[":domain"], domain, source, form.items[1] if form.items[1:] else form)
    if not parts[":objects"]:
        scope.absent["object"] = []
    objects = [o for f in parts[":objects"] for o in scope.declare_objects(f.items[1:], "object")]
    init, values = _read_init(parts[":init"], scope, end)
    goal: Formula = And()
    for section in parts[":goal"]:
        goal = _read_goal(section, scope)
    if not parts[":goal"]:
        source.report("missing-section", end, "A problem needs `(:goal …)`.")
    for section in parts[":constraints"]:
        scope.use(":constraints", section)
        for item in section.items[1:]:
            read_constraint(item, scope)
    metric = _read_metric(parts[":metric"], scope)
    scope.finish()
    scope.note_refusals(required)
    problem = Problem(
        name=name,
        domain=domain,
        objects=tuple(objects),
        init=init,
        values=values,
        goal=goal,
        metric=metric,
        requirements=tuple(symbol.key for symbol in required),
        features=frozenset(scope.features),
    )
    sound = inner is None or not inner.source.has_errors
    if sound and not source.has_errors:
        lint_problem(problem, scope, init=parts[":init"][0], goal=parts[":goal"][0])
    return problem


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
            _goal_hint(section),
        )
    return And(
        tuple(read_condition(item, scope) for item in section.items[1:] if isinstance(item, Form))
    )


def _goal_hint(section: Form) -> str | None:
    if len(section.items) > 2 and all(isinstance(item, Symbol) for item in section.items):
        return "Write the goal as a form in parentheses: `(:goal (PREDICATE OBJECT …))`."
    return "Join several conditions by `(and …)`." if len(section.items) > 2 else None


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
    negated: dict[Atom, Form] = {}
    values: dict[Atom, float] = {}
    for section in forms:
        for item in _facts(section, scope.source):
            _read_initial(item, scope, facts, negated, values)
    for atom, form in negated.items():
        if atom in facts:
            message = f"`{atom}` is stated both true and false."
            scope.source.report("contradictory-init", form, message, "Remove one of the two.")
    if not forms:
        scope.source.report("missing-section", end, "A problem needs `(:init …)`.")
    elif not facts and not values and not any(len(f.items) > 1 for f in forms):
        scope.source.report("empty-init", forms[0], "No fact is true at the start.")
    return tuple(facts), values


def _facts(section: Form, source: Source) -> Iterator[Form]:
    """The forms of a list of facts; a word alone is reported and left out."""
    for fact in in_parentheses(section.items[1:], source, "An initial fact is a form."):
        if len(fact.items) != 1 or source.text[fact.start] == "(":
            yield fact


def _read_initial(
    node: Form,
    scope: Scope,
    facts: dict[Atom, None],
    negated: dict[Atom, Form],
    values: dict[Atom, float],
) -> None:
    source = scope.source
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
            for fact in _facts(node, source):
                _read_initial(fact, scope, facts, negated, values)
        case "not":
            source.report(
                "negative-init",
                node,
                "What is not listed is false: a negated initial fact says nothing.",
                "Remove it.",
            )
            for item in node.items[1:]:
                if isinstance(item, Form):
                    atom = scope.atom(item, scope.predicates, "predicate")
                    if atom is not None:
                        negated.setdefault(atom, node)
        case "=" if len(node.items) == 3:
            if not scope.refuse_value_of_predicate(node):
                _read_value(node, scope, values)
        case "at" if len(node.items) == 3 and _is_time(node.items[1]):
            scope.use(":timed-initial-literals", node)
            _read_timed(node.items[2], scope)
        case _:
            scope.refuse_derived(node, "an initial fact")
            atom = scope.atom(node, scope.predicates, "predicate")
            if atom is not None and atom in facts:
                source.report("repeated-fact", node, f"`{atom}` stands here again.", "Remove it.")
            elif atom is not None:
                facts[atom] = None


def _read_timed(node: Node, scope: Scope) -> None:
    """Check what becomes true, or false, at a time."""
    if isinstance(node, Form) and node.key == "not" and len(node.items) == 2:
        node = node.items[1]
    if isinstance(node, Symbol):
        message = f"A fact is a form, not `{node.text}`."
        scope.source.report("malformed", node, message, "Write `(at TIME (FACT))`.")
    elif not (node.key == "=" and "=" not in scope.predicates):
        scope.atom(node, scope.predicates, "predicate")


def _read_value(node: Form, scope: Scope, values: dict[Atom, float]) -> None:
    target = node.items[1]
    if isinstance(target, Symbol) and number_of(target.text) is not None:
        hint = "Write `(= (FUNCTION …) NUMBER)`."
        scope.source.report("malformed", node, "The number stands after the function.", hint)
        return
    if isinstance(target, Symbol) and target.key in scope.objects:
        message = "Which objects are equal is not stated: each equals itself alone."
        scope.source.report("malformed", node, message, "Remove it.")
        return
    if isinstance(target, Symbol):
        target = Form((target,), target.start, target.end)
    function = scope.atom(target, scope.functions, "function")
    if isinstance(node.items[2], Symbol) and node.items[2].key in scope.objects:
        scope.use(":object-fluents", node)
        return
    value = read_number(node.items[2], scope, node)
    if isinstance(node.items[2], Form):
        message = "An initial value is a number, which nothing computes."
        scope.source.report("malformed", node.items[2], message)
        return
    if function is None or not isinstance(value, float):
        return
    if function not in values:
        values[function] = value
    elif values[function] == value:
        message = f"The value of `{function}` stands here again."
        scope.source.report("repeated-fact", node, message, "Remove it.")
    else:
        message = f"`{function}` has two values, {values[function]:g} and {value:g}."
        scope.source.report("contradictory-init", node, message, "Remove one of the two.")


def _read_metric(forms: list[Form], scope: Scope) -> tuple[str, NumericExpression] | None:
    if not forms:
        return None
    form = forms[0]
    direction = form.items[1] if len(form.items) == 3 else None
    if not isinstance(direction, Symbol) or direction.key not in ("minimize", "maximize"):
        scope.source.report("malformed", form, "Expected `(:metric minimize EXPRESSION)`.")
        return None
    node = form.items[2]
    if direction.key == "maximize":
        scope.use("maximize", direction)
    if isinstance(node, Symbol) and node.key == "total-cost":
        message = "`total-cost` is a function, which stands in parentheses."
        scope.source.report("malformed", node, message, "Write `(total-cost)`.")
        return None
    if node.key == "total-time":
        scope.use("total-time", node)
        if isinstance(node, Symbol):
            scope.use("bare-total-time", node)
        return direction.key, 0.0
    expression = read_number(node, scope, form)
    if isinstance(expression, float):
        scope.use("constant-metric", node)
    if not (isinstance(expression, Atom) and expression.predicate.lower() == "total-cost"):
        scope.use(":numeric-fluents", form)
    return direction.key, expression


def _first_variable(node: Form) -> Symbol | None:
    for item in node.items[1:]:
        if isinstance(item, Symbol) and item.text.startswith("?"):
            return item
    return None


def _is_time(node: Node) -> bool:
    return isinstance(node, Symbol) and number_of(node.text) is not None
