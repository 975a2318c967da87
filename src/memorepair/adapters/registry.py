"""Registry of what can be imported as a recording: one line a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias, cast

from memorepair.adapters.recording import Recording
from memorepair.errors import UnknownId

Reader: TypeAlias = Callable[[Path], Recording]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportKind:
    """A kind of import; `reader` (``module:function``) reads a file or a folder of it."""

    name: str
    about: str
    reader: str

    def read(self, path: Path) -> Recording:
        """What the file or folder holds.

        Raises
        ------
        InvalidFile
            It is not what it claims to be; message and witness name the place.
        MissingDependency
            The kind needs a package that is not installed.
        """
        module, _, function = self.reader.partition(":")
        return cast(Reader, getattr(import_module(module), function))(path)


_KINDS = (
    ImportKind(
        name="toolbench",
        about="ToolBench solution trees: tools, queries, tool results, thoughts, answers.",
        reader="memorepair.adapters.toolbench:read",
    ),
    ImportKind(
        name="swe-agent",
        about="SWE-agent trajectories: issues, thoughts with their actions, observations, patches.",
        reader="memorepair.adapters.swe_agent:read",
    ),
    ImportKind(
        name="toolbench-runs",
        about="The same trees as typed runs: inputs, plans, calls, results, answers.",
        reader="memorepair.adapters.toolbench:read_runs",
    ),
    ImportKind(
        name="swe-agent-runs",
        about="The same trajectories as typed runs: issues, plans, calls, observations, patches.",
        reader="memorepair.adapters.swe_agent:read_runs",
    ),
    ImportKind(
        name="who-and-when",
        about="Who&When failure logs: questions, what agents said, answers, the marked mistake.",
        reader="memorepair.adapters.who_and_when:read",
    ),
    ImportKind(
        name="openai-messages",
        about="OpenAI-style message lists with tool calls, or recorded exchanges of them.",
        reader="memorepair.adapters.openai_messages:read",
    ),
    ImportKind(
        name="otel-genai",
        about="OpenTelemetry spans (OTLP JSON) with the GenAI conventions: conversations and tool calls.",
        reader="memorepair.adapters.otel:read",
    ),
    ImportKind(
        name="letta",
        about="Letta agent files (.af): agents with their memory blocks, tools, skills, messages in context.",
        reader="memorepair.adapters.letta:read",
    ),
    ImportKind(
        name="prov",
        about="W3C PROV documents: PROV-JSON, PROV-O as Turtle or JSON-LD.",
        reader="memorepair.adapters.prov:read",
    ),
    ImportKind(
        name="dbt",
        about="A dbt manifest: sources, seeds, models, tests and what each depends on.",
        reader="memorepair.adapters.dbt:read",
    ),
    ImportKind(
        name="openlineage",
        about="OpenLineage events: datasets and the jobs that read and wrote them.",
        reader="memorepair.adapters.openlineage:read",
    ),
    ImportKind(
        name="uv-lock",
        about="A uv.lock: packages and what each requires.",
        reader="memorepair.adapters.lockfiles:read_uv",
    ),
    ImportKind(
        name="npm-lock",
        about="A package-lock.json: packages and who asks for each.",
        reader="memorepair.adapters.lockfiles:read_npm",
    ),
)

KINDS: Mapping[str, ImportKind] = MappingProxyType({kind.name: kind for kind in _KINDS})


def import_kind(name: str) -> ImportKind:
    """The kind called `name`; UnknownId with the known names otherwise."""
    if name not in KINDS:
        raise UnknownId(f"no import kind {name!r}: one of {', '.join(KINDS)}", witness=name)
    return KINDS[name]
