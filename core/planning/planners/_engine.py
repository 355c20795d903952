"""What the process of one unified-planning call does, once `_child.py` has set its limits.

Loaded by its path, because that process has no package to import it from. It works in the
current directory, which is private to the call:

- `run` (`engine`) reads `domain.pddl` and `problem.pddl`, solves, has the plan checked by
  unified-planning's validator where our own replay cannot follow, and writes `result.json`.
- `run` without an engine writes into `result.json` which engines are there.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module, metadata
from typing import Any

RESERVE = 10_000_000
OUTCOMES = {
    "SOLVED_OPTIMALLY": "solved_optimally",
    "SOLVED_SATISFICING": "solved",
    "UNSOLVABLE_PROVEN": "unsolvable",
    "UNSOLVABLE_INCOMPLETELY": "exhausted",
    "TIMEOUT": "timeout",
    "MEMOUT": "memout",
    "UNSUPPORTED_PROBLEM": "unsupported",
}
_METRICS = frozenset({"ACTIONS_COST", "FINAL_VALUE", "MAKESPAN", "PLAN_LENGTH"})
_VALIDATORS = {
    "SEQUENTIAL_PLAN": "sequential_plan_validator",
    "TIME_TRIGGERED_PLAN": "up_time_triggered_validator",
}
# What our own replay follows, in unified-planning's words.
_REPLAYED = frozenset(
    "ACTION_BASED FLAT_TYPING HIERARCHICAL_TYPING NEGATIVE_CONDITIONS DISJUNCTIVE_CONDITIONS"
    " EQUALITIES EXISTENTIAL_CONDITIONS UNIVERSAL_CONDITIONS CONDITIONAL_EFFECTS FORALL_EFFECTS"
    " ACTIONS_COST PLAN_LENGTH STATIC_FLUENTS_IN_ACTIONS_COST INT_NUMBERS_IN_ACTIONS_COST"
    " REAL_NUMBERS_IN_ACTIONS_COST".split()
)


def run(task: dict[str, Any], limit: Callable[[int, int], None]) -> None:
    """Do what the task says and write `result.json`, whole or not at all.

    Memory is limited once the libraries are loaded: numpy's and scipy's crash or hang for
    ever when they run out of it while they start.
    """
    os.mkdir("tmp")
    tempfile.tempdir = os.environ["TMPDIR"] = os.path.abspath("tmp")
    os.environ.pop("PYTHONSAFEPATH", None)  # Fast Downward's driver imports what lies beside it
    os.environ["JAVA_TOOL_OPTIONS"] = _java_options(task["memory"])
    import_module("unified_planning.shortcuts")
    sys.setrecursionlimit(5_000)
    reserve = bytearray(RESERVE)
    try:
        if "engine" in task:
            engine = loaded(task["engine"])
            limit(resource.RLIMIT_AS, task["memory"])
            result = engine or solve(task["engine"], task["optimal"])
        else:
            result = engines()
    except MemoryError:
        del reserve
        result = {"outcome": "memout", "message": "out of memory"}
    used = [resource.getrusage(who).ru_maxrss for who in _WHOSE]
    result["peak_memory_mb"] = max(used) / 1000
    with open("result.part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.rename("result.part", "result.json")


_WHOSE = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def _java_options(memory: int) -> str:
    """Options with which a virtual machine fits into an address space of so many bytes.

    It would reserve a gigabyte for classes and a quarter of the machine's memory.
    """
    heap = max(16, (memory // 1_000_000 - 400) * 3 // 4)
    fixed = "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=64m -XX:CompressedClassSpaceSize=64m"
    return f"-Xmx{heap}m {fixed}"


def loaded(engine: str) -> dict[str, Any] | None:
    """Load unified-planning's engines; a result if this one is not among them."""
    from unified_planning.environment import get_environment

    if engine in get_environment().factory.engines:
        return None
    return {"outcome": "crashed", "message": f"unified-planning has no engine {engine} here."}


def solve(engine: str, optimal: bool) -> dict[str, Any]:
    """Read, solve, validate, and describe the result as JSON."""
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import UPUnsupportedProblemTypeError, UPUsageError
    from unified_planning.io import PDDLReader

    environment = get_environment()  # the reader mixes another one up with it
    environment.credits_stream = None
    environment.error_used_name = False
    reader = PDDLReader(environment)
    start = time.perf_counter()
    try:
        problem = reader.parse_problem("domain.pddl", "problem.pddl")
    except MemoryError:
        raise
    except Exception as error:
        if _is_of_memory(error):
            raise MemoryError from error
        return {"outcome": "unsupported", "message": f"unified-planning cannot read it: {error}"}
    read = time.perf_counter()
    asked = list(problem.quality_metrics)
    try:
        with environment.factory.OneshotPlanner(name=engine) as planner:
            _pose(problem, planner, optimal)
            if not planner.supports(problem.kind):
                missing = sorted(problem.kind.features - planner.supported_kind().features)
                return {
                    "outcome": "unsupported",
                    "message": f"{engine} does not support {', '.join(missing).lower()}.",
                }
            found = planner.solve(problem)
    except (UPUsageError, UPUnsupportedProblemTypeError) as error:
        return {"outcome": "unsupported", "message": str(error)}
    outcome = OUTCOMES.get(found.status.name, "crashed")
    if outcome == "solved_optimally" and not problem.quality_metrics:
        outcome = "solved"  # best by no measure that was asked for
    result = {
        "outcome": outcome,
        "seconds": {"read": read - start, "search": time.perf_counter() - read},
        "message": "\n".join([*_last_words(found), found.status.name]),
    }
    _measure(problem, asked)
    return result if found.plan is None else {**result, **_described(problem, found.plan)}


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether an error stands for one of memory, which unified-planning words anew.

    Where C code does not get its memory, Python reports a SystemError now and then.
    """
    while error is not None:
        if isinstance(error, MemoryError | SystemError) or "MemoryError" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _pose(problem: Any, planner: Any, optimal: bool) -> None:
    """Give the problem the measure that the engine needs, or none where it reads none.

    What an engine finds without the problem's own measure is not called optimal.
    """
    from unified_planning.model.metrics import MinimizeSequentialPlanLength

    measured = bool(problem.quality_metrics)
    if optimal and not measured and not problem.kind.has_continuous_time():
        problem.add_quality_metric(MinimizeSequentialPlanLength(problem.environment))
    missing = problem.kind.features - planner.supported_kind().features
    if missing & _METRICS and not (optimal and measured):
        problem.clear_quality_metrics()


def _measure(problem: Any, metrics: list[Any]) -> None:
    problem.clear_quality_metrics()
    for metric in metrics:
        problem.add_quality_metric(metric)


def _last_words(found: Any) -> list[str]:
    return [message.message.strip()[-4_000:] for message in found.log_messages or []]


def _described(problem: Any, plan: Any) -> dict[str, Any]:
    """Steps, times, and what unified-planning's validator says of a plan."""
    from unified_planning.plans import PlanKind

    if plan.kind is PlanKind.PARTIAL_ORDER_PLAN:
        plan = plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem)
    times = None
    if plan.kind is PlanKind.SEQUENTIAL_PLAN:
        steps = plan.actions
    elif plan.kind is PlanKind.TIME_TRIGGERED_PLAN:
        timed = sorted(plan.timed_actions, key=lambda entry: Fraction(entry[0]))
        steps = [step for _, step, _ in timed]
        times = [[_written(begin), _written(duration)] for begin, _, duration in timed]
    else:
        return {"outcome": "unsupported", "message": f"The plan is a {plan.kind.name.lower()}."}
    return {
        "steps": [[s.action.name, *(str(p) for p in s.actual_parameters)] for s in steps],
        "times": times,
        **({} if problem.kind.features <= _REPLAYED else validated(problem, plan)),
    }


def _written(time: Any) -> str | None:
    """A time as a decimal with at least three places: exact where a decimal can be."""
    if time is None:
        return None
    exact = Fraction(time)
    places = next((n for n in range(3, 19) if (exact * 10**n).denominator == 1), 9)
    whole, rest = divmod(round(exact * 10**places), 10**places)
    return f"{whole}.{rest:0{places}}"


def validated(problem: Any, plan: Any) -> dict[str, Any]:
    """`{"valid", "cost", "remark"}`; valid is None where unified-planning cannot tell."""
    asked = list(problem.quality_metrics)
    problem.clear_quality_metrics()
    try:
        with problem.environment.factory.PlanValidator(
            name=_VALIDATORS[plan.kind.name]
        ) as validator:
            missing = sorted(problem.kind.features - validator.supported_kind().features)
            if missing:
                lacking = ", ".join(missing).lower()
                remark = f"unified-planning's validator does not support {lacking}."
                return {"valid": None, "remark": remark}
            verdict = validator.validate(problem, plan)
            if verdict.status.name != "VALID":
                return {"valid": False, "remark": _why_invalid(verdict)}
            return {"valid": True, "cost": _cost(problem, plan, asked, validator)}
    except MemoryError:
        raise
    except Exception as error:
        remark = f"unified-planning's validator failed: {type(error).__name__}: {error}"
        return {"valid": None, "remark": remark}


def _why_invalid(verdict: Any) -> str:
    said = " ".join(message.message for message in verdict.log_messages or [])
    reason = verdict.reason.name.lower().replace("_", " ") if verdict.reason else "invalid"
    at = f" {verdict.inapplicable_action}" if verdict.inapplicable_action else ""
    return said or f"{reason}{at}."


def _cost(problem: Any, plan: Any, metrics: list[Any], validator: Any) -> float | None:
    """A valid plan's cost by the metric; without one, the steps of a plan without times.

    The validator computes it on the way; what it cannot compute is unknown.
    """
    if not metrics:
        return float(len(plan.actions)) if plan.kind.name == "SEQUENTIAL_PLAN" else None
    _measure(problem, metrics)
    validator.skip_checks = True  # the metric was kept from the check of features
    try:
        values = validator.validate(problem, plan).metric_evaluations or {}
        return float(Fraction(str(values[metrics[0]])))
    except MemoryError:
        raise
    except Exception:
        return None


def engines() -> dict[str, Any]:
    """`{"engines": [{"name", "package", "version", "optimal", "takes"}], "missing": {name: why}}`.

    Engines that other engines are made of, validators and compilers are left out.
    """
    from unified_planning.engines.factory import DEFAULT_ENGINES
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    found = []
    absent = DEFAULT_ENGINES.keys() - set(factory.engines)
    missing = {name: _why_missing(DEFAULT_ENGINES[name][0]) for name in sorted(absent)}
    for name in sorted(factory.engines):
        try:
            if "[" not in name and factory.engine(name).is_oneshot_planner():
                found.append({"name": name, **_abilities(factory.engine(name))})
        except Exception as error:  # one bad engine is no reason to miss the others
            missing[name] = f"fails: {type(error).__name__}: {error}"
    return {"engines": found, "missing": missing}


def _abilities(engine: Any) -> dict[str, Any]:
    from unified_planning.engines import OptimalityGuarantee

    kind = engine.supported_kind()
    numeric = kind.has_simple_numeric_planning() or kind.has_general_numeric_planning()
    takes = {"numeric": numeric, "temporal": kind.has_continuous_time()}
    return {
        **_distribution(engine.__module__),
        "optimal": bool(engine.satisfies(OptimalityGuarantee.SOLVED_OPTIMALLY)),
        "takes": [word for word, able in takes.items() if able],
    }


def _distribution(module: str) -> dict[str, str]:
    """Package and version of what brings a module; a module on its own has no version."""
    top = module.partition(".")[0]
    for package in metadata.packages_distributions().get(top, []):
        return {"package": package, "version": metadata.version(package)}
    return {"package": top, "version": "unknown"}


def _why_missing(module: str) -> str:
    package = module.partition(".")[0]
    try:
        import_module(module)
    except ImportError as error:
        if getattr(error, "name", None) == package:
            return f"needs the package {package.replace('_', '-')}"
        return f"of the package {package.replace('_', '-')} cannot be loaded: {error}"
    return "is not among the engines that unified-planning loaded"
