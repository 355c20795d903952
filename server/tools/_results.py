"""What the tools return: pydantic models for programs, and a text for models.

The text of a result says everything that the structured result says, in fewer tokens,
and ends with what to do next.
"""

from __future__ import annotations

from typing import Any, Literal

from fastmcp.tools.base import ToolResult
from pydantic import BaseModel, Field

from llm_modulo.pddl import CheckResult
from llm_modulo.planning import SolveResult, Validation

__all__ = [
    "DiagnosticModel",
    "ParseModel",
    "PlannerModel",
    "PlannersModel",
    "SolveModel",
    "ValidationModel",
    "parse_result",
    "solve_result",
    "validation_result",
]

MAX_DIAGNOSTICS = 50
MAX_TEXT_STEPS = 2_000


class DiagnosticModel(BaseModel):
    """One fault in a text."""

    code: str
    severity: Literal["error", "warning", "note"]
    file: Literal["domain", "problem", "plan"]
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str | None


class ParseModel(BaseModel):
    """What a text holds and what is wrong with it."""

    ok: bool = Field(description="no diagnostic is an error")
    total: int = Field(description="how many diagnostics there are; the first 50 are listed")
    diagnostics: list[DiagnosticModel]
    summary: dict[str, Any]
    next: str = Field(description="what to do now")


class SolveModel(BaseModel):
    """How a solve ended."""

    outcome: str = Field(
        description="solved_optimally, solved, unsolvable (proved), exhausted (gave up without"
        " proof), timeout, memout, unsupported, invalid_input, crashed or cancelled"
    )
    plan: list[str] | None
    cost: float | None
    lower_bound: float | None
    optimal: bool
    validated: Literal["replayed", "unified-planning", "none"]
    planner: dict[str, str]
    seconds: dict[str, float | None]
    expanded: int | None
    peak_memory_mb: float | None
    log_tail: str
    digest: str | None
    next: str = Field(description="what to do now")


class ValidationModel(BaseModel):
    """Whether a plan is valid."""

    valid: bool
    failed_step: int | None = Field(description="0-based")
    failed_action: str | None
    reason: str | None
    unsatisfied: list[str]
    missing_goals: list[str]
    cost: float
    next: str = Field(description="what to do now")


class PlannerModel(BaseModel):
    """One planner."""

    name: str
    summary: str
    optimal: bool
    version: str | None = Field(description="null: not installed here")


class PlannersModel(BaseModel):
    """The planners that `solve` accepts."""

    planners: list[PlannerModel]


_NEXT = {
    "solved": "Deliver this plan unchanged.",
    "solved_optimally": "Deliver this plan unchanged; no shorter one exists.",
    "unsolvable": "No plan exists for the problem as written. Compare its objects, initial"
    " facts and goal with the task: something is missing or wrong.",
    "exhausted": "The planner gave up without proof. Check the problem, or try another planner.",
    "timeout": "Out of time. Check that the problem is no larger than the task, or try another"
    " planner.",
    "memout": "Out of memory. Check that the problem is no larger than the task, or try another"
    " planner.",
    "unsupported": "Choose another planner, or write the problem without that feature.",
    "invalid_input": "Mend the faults listed and call solve again.",
    "crashed": "The planner failed; this says nothing about the problem. Try again.",
    "cancelled": "The call was cancelled.",
}


def parse_result(checked: CheckResult, texts: dict[str, str], done: str) -> ToolResult:
    """The result of `parse_domain` and `parse_problem`.

    Args:
        checked: what `check` found.
        texts: the examined texts by `file` of their diagnostics.
        done: what to do next when there is no error.
    """
    shown = checked.diagnostics[:MAX_DIAGNOSTICS]
    total = len(checked.diagnostics)
    step = done if checked.ok else "Mend the errors listed, then check again."
    model = ParseModel(
        ok=checked.ok,
        total=total,
        diagnostics=[DiagnosticModel(**d.to_json()) for d in shown],
        summary=checked.summary,
        next=step,
    )
    lines = [] if checked.ok else [f"{total} diagnostic{'s' if total != 1 else ''}:"]
    for diagnostic in shown:
        lines.append(str(diagnostic))
        lines += _quoted(texts[diagnostic.file], diagnostic.line, diagnostic.column)
    if total > len(shown):
        lines.append(f"... and {total - len(shown)} more.")
    if checked.ok:
        lines.append(_summary_text(checked.summary))
    return _result(model, [*lines, step])


def solve_result(result: SolveResult) -> ToolResult:
    """The result of `solve`."""
    model = SolveModel(**result.to_json(), next=_NEXT[result.outcome])
    lines = [f"outcome: {result.outcome}"]
    if result.plan is not None:
        cost = "unknown" if result.cost is None else f"{result.cost:.12g}"
        lines.append(f"plan of {len(result.plan)} steps, cost {cost}:")
        lines += [f"{n}. {step}" for n, step in enumerate(result.plan[:MAX_TEXT_STEPS], start=1)]
        if len(result.plan) > MAX_TEXT_STEPS:
            lines.append(f"... and {len(result.plan) - MAX_TEXT_STEPS} more steps.")
    elif result.outcome not in ("unsolvable", "timeout", "memout"):
        lines.append(result.log_tail.strip())
    return _result(model, [*lines, model.next])


def validation_result(validation: Validation) -> ToolResult:
    """The result of `validate_plan`."""
    step = (
        "The plan is legal and reaches the goal."
        if validation.valid
        else "Change the plan from that step on, or solve the problem anew."
    )
    model = ValidationModel(**validation.to_json(), next=step)
    head = "valid" if validation.valid else f"not valid: {validation.reason}"
    return _result(model, [head, f"cost: {validation.cost:.12g}", step])


def _result(model: BaseModel, lines: list[str]) -> ToolResult:
    return ToolResult(
        content="\n".join(line for line in lines if line),
        structured_content=model.model_dump(mode="json"),
    )


def _quoted(text: str, line: int, column: int) -> list[str]:
    """The line of a fault with a caret below the place, cut to its surroundings."""
    source = text.split("\n")[line - 1].rstrip("\r") if line <= text.count("\n") + 1 else ""
    start = max(0, column - 40)
    part = source[start : start + 80].replace("\t", " ")
    return ["  " + part, "  " + " " * (column - 1 - start) + "^"] if part.strip() else []


def _summary_text(summary: dict[str, Any]) -> str:
    parts = []
    if (domain := summary.get("domain")) is not None:
        parts.append(f"domain {domain['name']}: predicates {' '.join(domain['predicates'])}")
        parts.append(f"actions {' '.join(domain['actions'])}")
    if (problem := summary.get("problem")) is not None:
        objects = ", ".join(f"{n} {kind}" for kind, n in problem["objects"].items()) or "none"
        parts = [
            f"problem {problem['name']}: objects {objects};"
            f" {problem['initial_facts']} initial facts; goal {problem['goal']}"
        ]
    refusing = {p: r for p, r in summary.get("planners", {}).items() if r is not None}
    parts += [f"{planner} cannot take it: it lacks {lack}" for planner, lack in refusing.items()]
    return "\n".join(parts)
