"""SWE-agent trajectories as a recording: issue, thoughts with their actions, observations, patch.

Source: J. Yang et al., SWE-agent: agent-computer interfaces enable automated software engineering, 2024;
https://github.com/SWE-agent/SWE-agent.
"""

from __future__ import annotations

import re
from pathlib import Path

from memorepair.adapters.files import files_in, inside, named, read_json
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, list_of, text_of
from memorepair.adapters.words import telling
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Recipe, Source
from memorepair.repair.jsontext import canonical

READS = "a step reads the observation right before it"
REPEATS = "a step repeats a word that an earlier observation brought"
EDITS = "an observation shows what an earlier edit has changed"
SUBMITS = "a patch holds every edit before it"

_EDIT = re.compile(
    r"\s*(edit|create|insert|append|str_replace_editor\s+(create|str_replace|insert)|git apply)\b"
)
_SUBMIT = re.compile(r"\s*submit\b")


def read(path: Path) -> Recording:
    """Trajectories of a ``.traj`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``.

    Raises
    ------
    InvalidFile
        The witness names file and field.

    Notes
    -----
    A trajectory records an order and no provenance, so all but the link from an action to its observation is
    inferred. Order alone links nothing.
    """
    return _read(path, typed=False)


def read_runs(path: Path) -> Recording:
    """The same trajectories as typed runs: issue, plans, calls with what was observed, patch; see `read`."""
    return _read(path, typed=True)


def _read(path: Path, *, typed: bool) -> Recording:
    recorder = Recorder("swe-agent-runs" if typed else "swe-agent")
    for file in files_in(path, (".traj",)):
        row = read_json(file, lambda value: as_object(value, "trajectory"))
        with inside(file.name):
            if typed:
                recorder.begin(named(file))
            _add_trajectory(recorder, named(file), row, typed=typed)
    return recorder.finish()


def _add_trajectory(recorder: Recorder, name: str, row: Row, *, typed: bool) -> None:
    issue = _add_issue(recorder, name, row, typed=typed)
    seen: list[tuple[str, frozenset[str]]] = []  # observations with the words they brought
    known = frozenset[str]() if issue is None else telling(issue)
    edits: list[tuple[str, str]] = []  # observations of edits, with the file that was open
    steps = list_of(row, "trajectory", name)
    for number, raw in enumerate(steps):
        where = f"{name}/{number}"
        step = as_object(raw, f"{name}.trajectory[{number}]")
        action = text_of(step, "action", f"{name}.trajectory[{number}]")
        thought = as_text(step.get("thought") or "", f"{name}.trajectory[{number}].thought")
        observation = as_text(step.get("observation") or "", f"{name}.trajectory[{number}].observation")
        begins = _add_step(recorder, where, thought.strip(), action.strip(), typed=typed)
        recorder.add(
            Item(
                id=f"{where}/observation",
                what="observations",
                content=observation,
                kind=Kind.OBSERVATION if typed else Kind.RECORD,
                source=Source.TOOL,
                recipe=Recipe(observed=True),
            )
        )
        recorder.link(f"{where}/action", f"{where}/observation", Relation.PRODUCE)
        if issue is not None:
            recorder.link(f"{name}/issue", begins, Relation.INITIATE)
        if seen:
            recorder.link(seen[-1][0], begins, Relation.SUPPORT, rule=READS)
        said = telling(f"{thought} {action}")
        for earlier, brought in seen[:-1]:
            if said & brought:
                recorder.link(earlier, begins, Relation.SUPPORT, rule=REPEATS)
        open_file = _open_file(step)
        submitting = _SUBMIT.match(action) is not None
        for edit, changed in edits:
            if submitting or (changed and (changed == open_file or changed in action)):
                rule = SUBMITS if submitting else EDITS
                recorder.link(edit, f"{where}/observation", Relation.UPDATE, rule=rule)
        if _EDIT.match(action):
            edits.append((f"{where}/observation", open_file))
        brought = telling(observation) - known
        known |= brought
        seen.append((f"{where}/observation", brought))
    _add_patch(recorder, name, row, edits, typed=typed)


def _add_step(recorder: Recorder, where: str, thought: str, action: str, *, typed: bool) -> str:
    """What the agent thought and did; the item that its reasons lead into."""
    acted = f"{where}/action"
    if not typed:
        recorder.add(
            Item(
                id=acted,
                what="steps",
                content=f"{thought}\n\n{action}".strip() or "(nothing)",
                kind=Kind.SUMMARY,
                source=Source.EXTRACTION,
                recipe=Recipe(operator="summarise"),
            )
        )
        return acted
    told = canonical({"tool": (action.split() or [""])[0], "arguments": {"command": action}})
    call = Item(id=acted, what="calls", content=told, kind=Kind.ACTION)
    if not thought:
        recorder.add(call)
        return acted
    recorder.add(Item(id=f"{where}/plan", what="plans", content=thought, kind=Kind.PLAN))
    recorder.add(call)
    recorder.link(f"{where}/plan", acted, Relation.PRODUCE)
    return f"{where}/plan"


def _add_issue(recorder: Recorder, name: str, row: Row, *, typed: bool) -> str | None:
    """The first message of the user that is no demonstration."""
    for number, raw in enumerate(as_list(row.get("history") or [], f"{name}.history")):
        message = as_object(raw, f"{name}.history[{number}]")
        if message.get("role") != "user" or message.get("is_demo") is True:
            continue
        content = message.get("content")
        if isinstance(content, list):  # blocks, of which the texts count
            blocks = (as_object(one, f"{name}.history[{number}].content") for one in content)
            content = "\n".join(str(one["text"]) for one in blocks if isinstance(one.get("text"), str))
        if isinstance(content, str) and content.strip():
            text = as_text(content, f"{name}.history[{number}].content")
            kind = Kind.USER_INPUT if typed else Kind.RECORD
            recorder.add(Item(id=f"{name}/issue", what="issues", content=text, kind=kind, source=Source.USER))
            return text
    recorder.miss("trajectories without the issue's text", name)
    return None


def _open_file(step: Row) -> str:
    """The file that the step's state names; empty where it names none."""
    state = step.get("state")
    text = state if isinstance(state, str) else str(state or "")
    found = re.search(r"""["']open_file["']\s*:\s*["']([^"']*)["']""", text)
    return "" if found is None or found[1] == "n/a" else found[1]


def _add_patch(recorder: Recorder, name: str, row: Row, edits: list[tuple[str, str]], *, typed: bool) -> None:
    info = as_object(row.get("info") or {}, f"{name}.info")
    patch = info.get("submission")
    if not isinstance(patch, str) or not patch.strip():
        recorder.miss("trajectories without a submitted patch", name)
        return
    recorder.add(
        Item(
            id=f"{name}/patch",
            what="patches",
            content=as_text(patch, f"{name}.info.submission"),
            kind=Kind.ANSWER if typed else Kind.RECORD,
            source=Source.TOOL,
            recipe=Recipe(observed=True),
        )
    )
    if not edits:
        recorder.miss("patches without an edit before them", f"{name}/patch")
    for edit, _ in edits:
        recorder.link(edit, f"{name}/patch", Relation.SUPPORT, rule=SUBMITS)
