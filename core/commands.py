"""Commands on PDDL files: check, solve, validate, simulate, planners.

Each returns its exit code: 0 positive, 1 negative, 2 bad usage or unsupported, 3 a limit,
4 a fault of ours or of a planner.
"""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from llm_modulo.console import FileOrInput, Output, OutputOption
from llm_modulo.files import read_text

__all__ = ["check", "planners", "simulate", "solve", "validate"]


def check(
    domain: FileOrInput,
    problem: str | None = None,
    /,
    *,
    canonical: Annotated[bool, Parameter(name="--format", negative="")] = False,
    output: OutputOption = Output(),
) -> int:
    """Find every mistake in a domain, or in a problem and its domain.

    Parameters
    ----------
    domain: str
        File of the PDDL domain; - is standard input.
    problem: str
        File of the PDDL problem.
    canonical: bool
        If there is no error, print the problem (the domain, if it is alone) in canonical
        layout; comments are not kept.
    """
    from llm_modulo.pddl import check as check_texts
    from llm_modulo.pddl import format_pddl

    texts = [read_text(name) for name in (domain, problem) if name is not None]
    result = check_texts(*texts)
    document = result.to_json()
    errors = sum(d.severity == "error" for d in result.diagnostics)
    remarks = [str(d) for d in result.diagnostics]
    if canonical and result.ok:
        document["formatted"] = format_pddl(texts[-1])
        output.remark("\n".join(remarks))
        output.emit(document, document["formatted"].rstrip("\n"))
        return 0
    verdict = "ok" if result.ok else f"{errors} error{'s' if errors != 1 else ''}"
    output.emit(document, "\n".join([*remarks, verdict]))
    return 0 if result.ok else 1


def solve(
    domain: str,
    problem: str,
    /,
    *,
    planner: str = "fast-downward",
    time_limit: float = 60.0,
    memory_limit: int = 4000,
    anytime: Annotated[bool, Parameter(negative="")] = False,
    output: OutputOption = Output(),
) -> int:
    """Find a plan; it is replayed before it is printed.

    Parameters
    ----------
    domain: str
        File of the PDDL domain.
    problem: str
        File of the PDDL problem.
    planner: str
        A name that `llm-modulo planners` lists.
    time_limit: float
        Seconds for reading, grounding and search together.
    memory_limit: int
        Memory of the planner in MB.
    anytime: bool
        Go on improving the plan until it is proved to be cheapest or the time is up.
    """
    from llm_modulo.planning import solve as solve_texts

    result = solve_texts(
        read_text(domain),
        read_text(problem),
        planner=planner,
        time_limit=time_limit,
        memory_limit=memory_limit,
        anytime=anytime,
        on_improvement=lambda i: output.remark(f"cost {i.cost:.12g} after {i.seconds:.1f} s"),
    )
    total = result.seconds.get("total") or 0.0
    if result.plan is not None:
        cost = "unknown" if result.cost is None else f"{result.cost:.12g}"
        comment = f"; {result.outcome}, cost {cost}, {planner}, {total:.2f} s"
        text = "\n".join([*result.plan, comment])
    else:
        text = f"; {result.outcome}, {planner}, {total:.2f} s"
        output.remark("" if result.outcome == "unsolvable" else result.log_tail.strip())
    output.emit(result.to_json(), text)
    return result.outcome.exit_code


def validate(
    domain: str, problem: str, plan: FileOrInput, /, *, output: OutputOption = Output()
) -> int:
    """Say whether a plan is valid, and if not, where and why.

    Parameters
    ----------
    domain: str
        File of the PDDL domain.
    problem: str
        File of the PDDL problem.
    plan: str
        File of the plan, a step (action object …) a line; - is standard input.
    """
    from llm_modulo.planning import validate as validate_texts

    result = validate_texts(read_text(domain), read_text(problem), read_text(plan))
    text = f"valid, cost {result.cost:.12g}" if result.valid else f"not valid: {result.reason}"
    output.emit(result.to_json(), text)
    return 0 if result.valid else 1


def simulate(
    domain: str, problem: str, plan: FileOrInput, /, *, output: OutputOption = Output()
) -> int:
    """Execute a plan and show what each step changes.

    Parameters
    ----------
    domain: str
        File of the PDDL domain.
    problem: str
        File of the PDDL problem.
    plan: str
        File of the plan, a step (action object …) a line; - is standard input.
    """
    from llm_modulo.planning import simulate as simulate_texts

    result = simulate_texts(read_text(domain), read_text(problem), read_text(plan))
    lines = []
    for index, step in enumerate(result.steps):
        lines.append(f"{index}: {step.action}")
        lines += [f"   + {fact}" for fact in step.add]
        lines += [f"   - {fact}" for fact in step.delete]
    if result.stopped is not None:
        lines.append(f"stopped: {result.stopped}")
    lines.append("goal reached" if result.goal_reached else "goal not reached")
    output.emit(result.to_json(), "\n".join(lines))
    return 0 if result.goal_reached else 1


def planners(*, output: OutputOption = Output()) -> int:
    """List the planners that can be used here, with versions."""
    from llm_modulo.planning.planners import list_planners

    found: list[dict[str, Any]] = list_planners()
    width = max(len(p["name"]) for p in found)
    lines = [
        f"{p['name']:{width}}  {p['version'] or 'not installed':34}  {p['summary']}" for p in found
    ]
    output.emit({"planners": found}, "\n".join(lines))
    return 0 if any(p["version"] for p in found) else 1
