"""`report.html`: complete in itself, the same bytes twice, and no markup but its own."""

import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.domains import find_benchmark, instances, write_instances
from llm_modulo.eval import TrialRecord, TrialStore, score_answer, trial_key, write_report
from llm_modulo.eval.folder import write_manifest

GOLDEN = Path(__file__).with_name("golden") / "report.txt"
VOID = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """What a browser would make of a page: its tags, addresses, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "tags are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name.split(":")[-1] in ("src", "href", "srcset", "data", "action", "poster"):
                self.addresses.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            self.addresses += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def record(index: int, model: str, condition: str, answer: str | None) -> TrialRecord:
    """A trial of the index-th corridor with everything fixed; without an answer, errored."""
    instance = CORRIDORS[index]
    plain = TrialRecord(
        key=trial_key(instance.id, {"name": condition}, {"name": model}, 0),
        instance_id=instance.id,
        condition=condition,
        model=model,
        model_asked=model,
        reference=model.startswith("reference/"),
        repetition=0,
        started="2026-01-01T00:00:00.000+00:00",
        ended="2026-01-01T00:00:01.000+00:00",
        status="errored",
        error="The model endpoint http://127.0.0.1:1/v1 failed (HTTP 500).",
        error_class="environment",
    )
    if answer is None:
        return plain
    scored = score_answer(instance, find_benchmark("sokobench"), answer)
    return plain.model_copy(
        update={
            "status": "done",
            "error": None,
            "answer_text": answer,
            "usage": {"prompt": 100, "completion": 10 + index, "cost": 0.001},
            "latency": {"total": 1.5},
            **scored.fields(),
        }
    )


CORRIDORS = instances("sokobench", lengths=[5, 10, 15], rotations=[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder that is the same whenever and wherever it is made."""
    right = [f"MOVES: {','.join('R' * c.optimum)}" for c in CORRIDORS]
    answers = {
        ("reference/miscounter", "innate"): [right[0], right[0], None],
        ("reference/miscounter", "modulo-solver"): right,
        ("plain", "innate"): ["MOVES: U", "I give up.", right[2]],
        ("plain", "modulo-solver"): [right[0], right[1], right[2]],
    }
    conditions = ["innate", "modulo-solver"]
    experiment = {
        "name": "golden",
        "seed": 7,
        "models": [
            {"name": "reference/miscounter", "parameters": {"p_text": 0.03, "p_pddl": 0.005}},
            {"name": "plain"},
        ],
        "conditions": [{"name": c, "label": c} for c in conditions],
    }
    with TrialStore(tmp_path / "run", write=True) as store:
        for (model, condition), said in answers.items():
            for index, answer in enumerate(said):
                store.write(record(index, model, condition, answer), None)
    manifest = {
        "name": "golden",
        "created": "2026-01-01T00:00:00.000+00:00",
        "experiment": experiment,
        "planned": 14,
        "versions": {"llm-modulo": "0"},
    }
    write_manifest(tmp_path / "run", manifest)
    write_instances(tmp_path / "run" / "instances.jsonl", CORRIDORS)
    return tmp_path / "run"


def outline(page: str) -> str:
    """A page without figures, style, version, and the bounds of intervals."""
    page = re.sub(r"<svg.*?</svg>", "(figure)", page, flags=re.S)
    page = re.sub(r"<style>.*?</style>", "(style)", page, flags=re.S)
    page = re.sub(r"llm-modulo \d[\w.]*\.", "llm-modulo (version).", page)
    return re.sub(r"\[[^]]*\]", "[low, high]", page)


def test_the_report_has_the_golden_structure(folder: Path) -> None:
    """LLM_MODULO_GOLDEN=write writes the file anew; then read what changed."""
    found = outline(write_report(folder).read_text(encoding="utf-8"))
    if os.environ.get("LLM_MODULO_GOLDEN") == "write":
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_the_same_run_gives_the_same_bytes(folder: Path, cli: Callable[..., Any]) -> None:
    first = write_report(folder).read_bytes()
    ended = cli("report", folder, "--json")
    assert ended.document == {"report": str(folder / "report.html")}
    assert (folder / "report.html").read_bytes() == first


def test_the_report_is_complete_in_itself(folder: Path) -> None:
    text = write_report(folder).read_text(encoding="utf-8")
    page = Page(text)
    assert [a for a in page.addresses if not a.startswith("#")] == []
    assert {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags) == set()
    assert "@import" not in text
    assert page.handlers == []


def test_the_report_shows_accuracy_by_difficulty_for_each_model(folder: Path) -> None:
    text = write_report(folder).read_text(encoding="utf-8")
    figures = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(figures) == 2
    # In each figure a line for each condition; the miscounter's also have their closed forms.
    assert [len(re.findall(r"stroke-dasharray: [\d.]+", f)) for f in figures] == [0, 2]
    assert all("corridor length ℓ (cells)" in f for f in figures)


def test_a_reference_model_is_called_one_in_every_table(folder: Path) -> None:
    """Also under a label that hides it."""
    with TrialStore(folder, write=True) as store:
        for record in list(store.records()):
            if record.reference:
                store.rescore(record.model_copy(update={"model": "gpt-9"}))
    text = write_report(folder).read_text(encoding="utf-8")
    mentions = re.findall(r"<t[hd]>gpt-9[^<]*<", text)
    assert len(mentions) == 4  # results, comparison, and two rows of verdicts
    assert {m[4:-1] for m in mentions} == {"gpt-9 (reference model)"}


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=http://evil/x onerror=alert(1)>',
    "--><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "{{ 7 * 7 }} {% raw %}",
    r"$\frac{$ and $x^2$",
    "_underscore",
    "长 ℓ ünïcode",
    "a\nb",
    "$5",
    "&lt;b&gt; & co",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_markup_in_a_label_is_only_text(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    endpoint: Any,
    label: str,
) -> None:
    """Names come from files, errors from endpoints; neither may write the page."""
    endpoint.respond = lambda _: (
        endpoint.says("MOVES: R,R,R")
        if len(endpoint.requests) < 4
        else (422, '{"error": {"message": "<script>alert(2)</script>"}}')
    )
    file = experiment_file(
        name=label,
        models=[{"name": "m", "base_url": endpoint.url, "label": label}],
        conditions=[
            {"name": "innate", "label": label},
            {"name": "innate", "label": "bare", "example": False},
        ],
        limits={"concurrent_trials": 1},
    )
    ended = cli("run", file, "--out", tmp_path / "run", "--quiet")
    assert ended.code == 3
    assert ended.sentence.startswith("The run was stopped: The model endpoint ")
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert {"script", "img"} & set(page.tags) == set()
    assert page.handlers == []
    assert [a for a in page.addresses if not a.startswith("#")] == []
    assert label in page.text
    drawn = re.findall(r"<!-- (.*?) -->", text, flags=re.S)
    assert len(drawn[drawn.index("accuracy") + 1 :]) >= 2  # the legend names both conditions
