"""The command `llm-modulo`. Commands are imported when they are called.

Exit codes: 0 positive, 1 negative, 2 bad usage, 3 a limit or errored trials, 4 a fault of
ours, 130 cancelled. Bad input gets one sentence, never a traceback.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import metadata
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from llm_modulo.console import Output, OutputOption
from llm_modulo.errors import LlmModuloError

__all__ = ["app", "main"]

app = App(
    name="llm-modulo",
    help="Planning tools for language models, and experiments that measure what they repair.",
    version=lambda: metadata.version("llm-modulo"),
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `main` says that it was cancelled
)

_COMMANDS = {
    "check": ("llm_modulo.commands:check", "Find every mistake in PDDL files."),
    "solve": ("llm_modulo.commands:solve", "Find a plan."),
    "validate": ("llm_modulo.commands:validate", "Say whether a plan is valid."),
    "simulate": ("llm_modulo.commands:simulate", "Execute a plan, change by change."),
    "planners": ("llm_modulo.commands:planners", "List the planners that can be used here."),
    "doctor": ("llm_modulo.agent.commands:doctor", "Try everything that a run needs."),
    "instances": ("llm_modulo.domains.commands:instances", "Write certified instances."),
    "certify": ("llm_modulo.domains.commands:certify", "Check certificates independently."),
    "score": ("llm_modulo.eval.commands:score", "Score answers made anywhere."),
    "init": ("llm_modulo.eval.commands:init", "Write a commented experiment file."),
    "status": ("llm_modulo.eval.commands:status", "Say how far a run is."),
    "rescore": ("llm_modulo.eval.commands:rescore", "Score stored transcripts again."),
    "report": ("llm_modulo.eval.commands:report", "Write report.html for a run."),
    "compare": ("llm_modulo.eval.commands:compare", "Compare two conditions of a run."),
    "serve": ("llm_modulo.server.commands:serve", "Serve the tools over MCP."),
}
for _name, (_target, _help) in _COMMANDS.items():
    app.command(_target, name=_name, help=_help)


def _memory_server() -> Any:
    """The server object for `tools.transport = "memory"`."""
    from llm_modulo.server import create_server

    return create_server("sokobench")


@app.command
def demo(
    *,
    model: str | None = None,
    base_url: str | None = None,
    out: str | None = None,
    output: OutputOption = Output(),
) -> int:
    """A small complete experiment: a model alone and with planning tools, compared.

    Parameters
    ----------
    model: str
        A model to run it on; the reference model reference/miscounter if absent.
    base_url: str
        The model's endpoint; OPENAI_BASE_URL if absent. The key is OPENAI_API_KEY.
    out: str
        Run folder; demo-run, or one named after the model, if absent.
    """
    from llm_modulo.eval.commands import run_demo

    return run_demo(model=model, base_url=base_url, out=out, output=output, server=_memory_server)


@app.command
def run(
    experiment: str,
    /,
    *,
    out: str | None = None,
    plan: Annotated[bool, Parameter(negative="")] = False,
    output: OutputOption = Output(),
) -> int:
    """Run an experiment, or go on with one that stopped.

    Parameters
    ----------
    experiment: str
        Experiment file (TOML), or preset:NAME.
    out: str
        Run folder; the same folder again goes on where the run stopped.
    plan: bool
        Only say what would run.
    """
    from llm_modulo.errors import UsageError
    from llm_modulo.eval.commands import print_plan, run_and_report
    from llm_modulo.eval.experiment import load_experiment

    loaded = load_experiment(experiment)
    if plan:
        return print_plan(loaded, output=output)
    if out is None:
        raise UsageError("run needs --out FOLDER.")
    return run_and_report(loaded, out, output=output, server=_memory_server)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        code = _fail(arguments, " ".join(str(error).split()), 2)
    except LlmModuloError as error:
        code = _fail(arguments, str(error), error.exit_code)
    except KeyboardInterrupt:
        code = _fail(arguments, "Cancelled.", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # a fault of ours: say so in one sentence, keep the details
        if os.environ.get("LLM_MODULO_TRACEBACK"):
            raise
        message = f"Internal error: {type(error).__name__}: {error}"
        code = _fail(arguments, f"{message} (LLM_MODULO_TRACEBACK=1 shows where)", 4)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(arguments: list[str], message: str, code: int) -> int:
    if "--json" in arguments:
        print(json.dumps({"error": message}))
    print(message, file=sys.stderr)
    return code
