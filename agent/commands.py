"""The command `doctor`."""

from __future__ import annotations

from dataclasses import asdict

from llm_modulo.console import Output, OutputOption

__all__ = ["doctor"]

_MARKS = {"ok": "ok     ", "failed": "FAILED ", "absent": "-      "}


def doctor(
    *,
    model: str | None = None,
    base_url: str | None = None,
    output: OutputOption = Output(),
) -> int:
    """Try everything that a run needs: planners, MCP server, endpoint and key.

    Parameters
    ----------
    model: str
        A model to ask one short question.
    base_url: str
        Its endpoint; OPENAI_BASE_URL if absent.
    """
    from llm_modulo.agent.doctor import examine
    from llm_modulo.planning import run_sync

    findings = run_sync(examine(model, base_url))
    lines = [f"{_MARKS[f.state]} {f.name}: {f.detail}" for f in findings]
    failed = [f for f in findings if f.state == "failed"]
    lines.append(f"{len(failed)} failed" if failed else "All that was tried works.")
    output.emit({"findings": [asdict(f) for f in findings]}, "\n".join(lines))
    return 1 if failed else 0
