"""Whatever the text, `check` answers: no exception, no long wait, no lost memory."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_modulo.domains import bundled_domain
from llm_modulo.domains.sokoban import corridor, write_problem
from llm_modulo.pddl import MAX_DEPTH, Form, Node, Source, Symbol, check, format_pddl, read_forms

DOMAIN = bundled_domain("sokoban")
PROBLEM = write_problem(corridor(6, 90))

WORDS = st.sampled_from(
    "define domain problem :init :goal :objects :action :parameters :effect :precondition and not"
    " or when forall exists = - ?x ?y cell adjacent player-at c-1-1 move 3 0.5 , `` // # \\n either"
    " :typing :types :predicates （ ） – \x00 \ufeff ? : . ' \" increase (total-cost) é".split(" ")
)
PIECES = st.one_of(WORDS, st.sampled_from(["(", ")", "((", "))", "\n", ";", "\r\n", "\r", "\t"]))
SOUP = st.lists(PIECES, max_size=60).map(" ".join)


def shape(node: Node) -> object:
    """A tree without places."""
    return node.text if isinstance(node, Symbol) else [shape(item) for item in node.items]


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(max_size=200), SOUP), st.one_of(st.text(max_size=200), SOUP))
def test_check_answers_for_any_text(domain: str, problem: str) -> None:
    for texts in ((domain,), (domain, problem), (DOMAIN, problem)):
        result = check(*texts)
        for diagnostic in result.diagnostics:
            text = texts[0] if diagnostic.file == "domain" else texts[-1]
            assert 1 <= diagnostic.line <= text.count("\n") + text.count("\r") + 1
            assert diagnostic.column >= 1
            assert diagnostic.message.endswith(".")


@settings(max_examples=300)
@given(st.data())
def test_check_answers_for_a_text_with_a_piece_changed(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([DOMAIN, PROBLEM]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    changed = text[:start] + data.draw(st.one_of(SOUP, st.text(max_size=10))) + text[end:]
    check(*((changed, PROBLEM) if text is DOMAIN else (DOMAIN, changed)))


TREES = st.recursive(
    st.sampled_from([":init", "and", "not", "?x", "-", "a", "b-1", "Move", ":effect", "12"]),
    lambda inner: st.lists(inner, max_size=6),
    max_leaves=40,
)


def written(tree: object) -> str:
    return f"({' '.join(map(written, tree))})" if isinstance(tree, list) else str(tree)


def forms(text: str) -> tuple[list[object], bool]:
    source = Source(text, "domain")
    return [shape(node) for node in read_forms(source)], source.has_errors


@settings(max_examples=300)
@given(st.lists(TREES.filter(lambda t: isinstance(t, list)), min_size=1, max_size=3))
def test_formatting_keeps_every_form(trees: list[object]) -> None:
    text = " ".join(map(written, trees))
    before, faulty = forms(text)
    if not faulty:
        formatted = format_pddl(text)
        assert forms(formatted) == (before, False)
        assert format_pddl(formatted) == formatted


def test_formatting_keeps_the_model() -> None:
    before = check(DOMAIN, PROBLEM)
    after = check(format_pddl(DOMAIN), format_pddl(PROBLEM))
    assert (before.domain, before.problem) == (after.domain, after.problem)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_other_systems_count_as_lines(newline: str) -> None:
    broken = PROBLEM.replace("(box-at", "(box-on", 1)
    expected = [(d.code, d.line, d.column) for d in check(DOMAIN, broken).diagnostics]
    found = check(DOMAIN.replace("\n", newline), broken.replace("\n", newline)).diagnostics
    assert [(d.code, d.line, d.column) for d in found] == expected


def test_a_thousand_faults_are_all_reported() -> None:
    facts = "\n".join(f"(player-at nowhere-{n})" for n in range(1000))
    result = check(DOMAIN, PROBLEM.replace("(:init", f"(:init\n{facts}"))
    assert sum(d.severity == "error" for d in result.diagnostics) == 1000


HOSTILE = {
    "nested 100,000 deep": "(" * 100_000,
    "nested and closed": "(" * 100_000 + ")" * 100_000,
    "five megabytes in one line": "(define (problem p) (:domain sokoban) (:init "
    + "(clear c) " * 500_000
    + ") (:goal (clear c)))",
    "one word of five megabytes": "x" * 5_000_000,
    "five megabytes of closing parentheses": ")" * 5_000_000,
    "five megabytes of facts that lack their parentheses": "(define (problem p) (:init "
    + "(clear c " * 500_000,
    "as many facts without their parentheses as are read": "(define (problem p) (:init "
    + "(clear c " * 63_000,
    "as many facts astray as are read": "(define (problem p) (:domain sokoban) (:init) "
    + "(clear c) " * 47_000,
    "a parenthesis too many after each fact": "(define (problem p) (:domain sokoban) (:init "
    + "(clear c)) " * 39_000
    + ") (:goal (clear c)))",
    "as many unknown names as are read": "(define (problem p) (:domain sokoban) (:objects "
    + " ".join(f"object-{n}" for n in range(20_000))
    + " - cell) (:init "
    + " ".join(f"(clear thing-{n})" for n in range(40_000))
    + ") (:goal (clear object-1)))",
    "commas": "(define (problem p) (:objects " + "a,b " * 500_000 + "))",
    "lookalikes": "（）" * 1_000_000,
    "escapes": "\\n" * 1_000_000,
    "five megabytes of line ends": "\n" * 5_000_000,
    "quotes": '"' * 3_000_000,
    "comments and a quote": '"' + ";\n" * 2_500_000,
    "many kinds of unusual character": "".join(chr(0xF0000 + n % 65_000) for n in range(500_000)),
    "long names that are like each other": "(define (problem p) (:domain sokoban) (:objects "
    + " ".join(f"{'ab' * 1000}{n}x" for n in range(500))
    + " - cell) (:init "
    + " ".join(f"(clear {'ba' * 1000}{n}y)" for n in range(500))
    + ") (:goal (and)))",
    "names of much the same letters": "(define (problem p) (:domain sokoban) (:objects "
    + " ".join(f"{'abc' * 18}{n}x" for n in range(5000))
    + " - cell) (:init "
    + " ".join(f"(clear {'cba' * 18}{n}y)" for n in range(5000))
    + ") (:goal (and)))",
    "as many requirements as are read": "(define (problem p) (:requirements "
    + " ".join(f":stripes{n}" for n in range(60_000))
    + "))",
    "as many goals on static facts as are read": "(define (problem p) (:domain sokoban) (:objects "
    + " ".join(f"c{n}" for n in range(12_000))
    + " - cell) (:init (clear c1)) (:goal (and "
    + " ".join(f"(adjacent c0 c{n} right)" for n in range(12_000))
    + ")))",
}


SAFETY_NET = 10.0
"""Seconds: many times what any of these takes; what is quadratic takes longer."""


def domain_of(types: str = "", predicates: str = "", rest: str = "") -> str:
    return (
        f"(define (domain d) (:types {types}) (:predicates (p) {predicates}) {rest}"
        " (:action go :parameters () :effect (p)))"
    )


CHAIN = [f"t{n} - t{n + 1}" for n in range(20_000)]
HOSTILE_DOMAINS = {
    "a long chain of types": domain_of(" ".join(CHAIN)),
    "a long chain of types, reversed": domain_of(" ".join(reversed(CHAIN))),
    "a chain of types, each used": domain_of(
        " ".join(CHAIN[:3000]), " ".join(f"(q{n} ?x - t{n})" for n in range(3000))
    ),
    "a long circle of types": domain_of(" ".join(CHAIN) + " t20000 - t0"),
    "a long chain of axioms": domain_of(
        predicates=" ".join(f"(d{n})" for n in range(8001)),
        rest=" ".join(f"(:derived (d{n}) (not (d{n + 1})))" for n in range(8000)),
    ),
    "unknown variables": domain_of(
        rest=f"(:action a :parameters ({' '.join(f'?v{n}' for n in range(9000))}) :effect (and "
        + "".join(f"(p ?w{n})" for n in range(20_000))
        + "))"
    ),
    "unknown keywords": domain_of(
        rest=f"(:action a {' '.join(f':precond{n} ()' for n in range(40_000))})"
    ),
}


@pytest.mark.parametrize("kind", [*HOSTILE, *HOSTILE_DOMAINS])
def test_hostile_text_is_answered_soon_and_in_little_memory(kind: str) -> None:
    """In a process of its own, which dies at 500 MB; the time is a safety net, not a measure."""
    program = (
        "import re, sys, time\n"
        "from llm_modulo.pddl import check\n"
        "domain, text = sys.stdin.read().split('\\x1e')\n"
        "start = time.process_time()\n"
        "result = check(domain, text)\n"
        # `ru_maxrss` would start from what the process that forked this one had.
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]\n"
        "print(len(result.diagnostics), time.process_time() - start,"
        " peak)\n"
    )
    domain, text = (DOMAIN, HOSTILE[kind]) if kind in HOSTILE else (HOSTILE_DOMAINS[kind], PROBLEM)
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{domain}\x1e{text}",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-500:]
    count, seconds, kilobytes = done.stdout.split()
    assert int(count) >= 1
    assert float(seconds) < SAFETY_NET
    assert int(kilobytes) < 500_000


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_byte_mutations_are_answered() -> None:
    slowest = 0.0
    for number in range(10_000):
        rng = random.Random(number)
        original = rng.choice([DOMAIN, PROBLEM])
        data = bytearray(original.encode())
        for _ in range(rng.randint(1, 8)):
            place = rng.randrange(len(data))
            match rng.randrange(4):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.randint(1, 20)]
                case 2:
                    data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 5)))
                case 3:
                    other = rng.randrange(len(data))
                    data[place:place] = data[other : other + rng.randint(1, 40)]
        text = data.decode("utf-8", "replace")
        start = time.perf_counter()
        check(*((text, PROBLEM) if original is DOMAIN else (DOMAIN, text)))
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < 2.0


def test_a_goal_that_stands_often_is_reported_once() -> None:
    goal = "(and " + "(adjacent c-1-1 c-1-1 right) " * 3 + ")"
    found = check(DOMAIN, re.sub(r"\(:goal.*", f"(:goal {goal}))", PROBLEM, flags=re.S)).diagnostics
    assert [d.code for d in found if d.code == "goal-out-of-reach"] == ["goal-out-of-reach"]


def test_a_hierarchy_of_types_may_be_deep_but_not_without_end() -> None:
    def codes(depth: int) -> list[str]:
        chain = domain_of(" ".join(CHAIN[:depth]) + f" t{depth} - object", "(q ?x - t0)")
        return [d.code for d in check(chain).diagnostics if d.severity == "error"]

    assert codes(900) == []
    assert codes(1100) == ["too-deep"]


def test_depth_is_limited_where_the_docstring_says() -> None:
    def nested(depth: int) -> list[str]:
        source = Source("(" * depth + ")" * depth, "domain")
        read_forms(source)
        return [d.code for d in source.diagnostics]

    assert nested(MAX_DEPTH) == []
    assert nested(MAX_DEPTH + 1) == ["too-deep"]
    assert isinstance(read_forms(Source("(a)", "domain"))[0], Form)
