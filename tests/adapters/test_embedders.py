"""Embedders: an endpoint is believed in nothing it says, a packaged model is loaded where it is used."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memorepair.adapters.embedders import minilm
from memorepair.adapters.embedders.endpoint import EndpointEmbedder
from memorepair.adapters.embedders.late import REST_S, LateEndpoint
from memorepair.adapters.embedders.minilm import MiniLM
from memorepair.adapters.embedders.named import from_environment, named
from memorepair.cli import app
from memorepair.errors import InvalidInput, MissingDependency, StepFailed
from memorepair.facade import Memory
from memorepair.memory.vectors import HashedNgrams, space_of
from memorepair.repair.operators.endpoint import Endpoint

KEY = "sk-very-secret-0815"
SCOPE = ("user", "42")
HUGE = b'{"data": [{"embedding": [1' + b"0" * 400 + b", 1, 1, 1]}]}"

Answer = tuple[int, Any]
Script = Callable[[dict[str, Any]], Answer]


@dataclass
class Server:
    """Speaks the embeddings protocol as its script says; the last line of it repeats."""

    url: str
    script: list[Script] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


def rows(body: dict[str, Any], dimension: int = 4) -> list[dict[str, Any]]:
    made = HashedNgrams(dimension=dimension).embed(body["input"]) * 3
    return [{"index": place, "embedding": row.tolist()} for place, row in enumerate(made)]


def good(body: dict[str, Any]) -> Answer:
    return 200, {"data": rows(body)}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("MEMOREPAIR_EMBED_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.asked.append(body)
            found.paths.append(self.path)
            found.keys.append(self.headers.get("Authorization"))
            script = found.script.pop(0) if len(found.script) > 1 else found.script[0]
            status, said = script(body)
            sent = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            pass

    there = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Server(url=f"http://127.0.0.1:{there.server_address[1]}/v1", script=[good])
    thread = threading.Thread(target=there.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    there.shutdown()
    thread.join()
    there.server_close()


def embedder(server: Server, **more: Any) -> EndpointEmbedder:
    endpoint = Endpoint(
        base_url=server.url,
        model="small",
        key_variable="MEMOREPAIR_EMBED_KEY",
        timeout=5.0,
        attempts=3,
        first_wait=0.0,
        longest_wait=0.01,
    )
    return EndpointEmbedder(**{"endpoint": endpoint, "dimension": 4, **more})


def test_texts_go_in_batches_and_come_back_in_order(server: Server) -> None:
    server.script = [lambda body: (200, {"data": rows(body)[::-1]})]
    texts = ["Lives in Paris", "", "green tea", "   ", "the cello"]
    made = embedder(server, batch=2).embed(texts)
    assert [body["input"] for body in server.asked] == [["Lives in Paris", "green tea"], ["the cello"]]
    assert made == pytest.approx(HashedNgrams(dimension=4).embed(texts))
    assert made.dtype == np.float32
    assert set(server.paths) == {"/v1/embeddings"}
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert server.asked[0] == {
        "model": "small",
        "input": ["Lives in Paris", "green tea"],
        "encoding_format": "float",
    }


def test_what_may_pass_is_asked_again(server: Server) -> None:
    server.script = [
        lambda body: (429, b"{}"),
        lambda body: (500, b"sorry"),
        good,
    ]
    assert embedder(server).embed(["tea"]).any()
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("script", "message", "tries"),
    [
        (lambda body: (429, b"{}"), "answered 429", 3),
        (lambda body: (503, b"{}"), "answered 503", 3),
        (lambda body: (401, b"{}"), "answered 401", 1),
        (lambda body: (400, {"error": body["input"]}), "answered 400", 1),
        (lambda body: (200, b"<html>"), "not JSON", 3),
        (lambda body: (200, b'{"data": [{"index": 0, "embedding": [NaN, 1, 1, 1]}]}'), "not JSON", 3),
        (lambda body: (200, {"data": []}), "0 vectors for 1 texts", 1),
        (lambda body: (200, {"data": rows(body) * 2}), "2 vectors for 1 texts", 1),
        (lambda body: (200, {"error": "none"}), "0 vectors for 1 texts", 1),
        (lambda body: (200, {"data": rows(body, 3)}), "gave 3 numbers a vector, not 4", 1),
        (lambda body: (200, {"data": [{"embedding": [1.0, None, 1.0, 1.0]}]}), "no finite number", 1),
        (lambda body: (200, {"data": [{"embedding": ["1", 1, 1, 1]}]}), "no finite number", 1),
        (lambda body: (200, b'{"data": [{"embedding": [1e999, 1, 1, 1]}]}'), "no finite number", 1),
        (
            lambda body: (200, HUGE),
            "no finite number",
            1,
        ),
        (lambda body: (200, {"data": [{"embedding": "AACAPw=="}]}), "no vector", 1),
        (lambda body: (200, {"data": [{"index": 7, "embedding": [1, 1, 1, 1]}]}), "numbered", 1),
        (lambda body: (200, {"data": ["no"]}), "no vector", 1),
    ],
)
def test_an_answer_that_cannot_be_used_stores_nothing(
    server: Server, tmp_path: Path, script: Script, message: str, tries: int
) -> None:
    server.script = [script]
    with Memory.open(tmp_path / "agent.db", embedder=embedder(server)) as memory:
        with pytest.raises(StepFailed, match=message) as caught:
            memory.record("a secret wish", scope=SCOPE)
        assert memory.list() == []
    assert len(server.asked) == tries
    told = f"{caught.value} {caught.value.witness!r}"
    assert KEY not in told
    assert "secret wish" not in told


def test_a_store_lives_with_an_endpoint(server: Server, tmp_path: Path) -> None:
    there = embedder(server, dimension=16, shorten=True)
    server.script = [lambda body: (200, {"data": rows(body, body["dimensions"])})]
    with Memory.open(tmp_path / "agent.db", embedder=there) as memory:
        for text in ("Lives in Paris", "plays the cello"):
            memory.record(text, id=text[:5], scope=SCOPE)
        hits = memory.search("the cello", scope=SCOPE, by="vector")
        assert hits[0].artifact.key.id == "plays"
        assert hits[0].score <= 1.0
        assert dict(memory.vectors().rows) == {space_of(there): 2}


def test_vectors_may_be_stored_as_they_came(server: Server) -> None:
    made = embedder(server, normalised=False).embed(["tea"])
    assert float(np.linalg.norm(made)) == pytest.approx(3.0)


def test_long_texts_are_cut_off(server: Server) -> None:
    embedder(server, characters=5).embed(["Lives in Paris"])
    assert server.asked[0]["input"] == ["Lives"]


def test_a_large_answer_is_read(server: Server) -> None:
    made = embedder(server, dimension=3_000, batch=200)
    server.script = [lambda body: (200, {"data": rows(body, 3_000)})]
    assert made.embed([f"note {n}" for n in range(60)]).shape == (60, 3_000)


def test_the_environment_names_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "endpoint")
    with pytest.raises(InvalidInput, match="MEMOREPAIR_EMBED_BASE_URL is not set"):
        from_environment()
    monkeypatch.setenv("MEMOREPAIR_EMBED_BASE_URL", server.url)
    monkeypatch.setenv("MEMOREPAIR_EMBED_MODEL", "small")
    monkeypatch.setenv("MEMOREPAIR_EMBED_REVISION", "2026-11")
    found = from_environment()
    assert found is not None
    assert server.asked == []
    assert space_of(found) == ("small", "2026-11", 4, True)
    assert found.embed(["tea"]).shape == (1, 4)
    assert space_of(found).dimension == 4
    assert len(server.asked) == 2
    for wrong in ("many", "0", "٣"):
        monkeypatch.setenv("MEMOREPAIR_EMBED_DIMENSION", wrong)
        with pytest.raises(InvalidInput):
            from_environment()


@pytest.fixture
def nobody() -> str:
    """A port of this machine at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1"


@pytest.fixture
def posts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been asked of any endpoint."""
    asked: list[str] = []
    post = Endpoint.post

    def counted(self: Endpoint, body: Any, *, path: str = "") -> dict[str, Any]:
        asked.append(path)
        return post(self, body, path=path)

    monkeypatch.setattr(Endpoint, "post", counted)
    return asked


def test_no_command_asks_for_a_dimension_that_wants_no_vector(
    nobody: str, posts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db = str(tmp_path / "agent.db")
    with Memory.open(db) as memory:
        memory.record("Lives in Paris", id="home", scope=SCOPE)
    for name, value in (("EMBEDDER", "endpoint"), ("EMBED_BASE_URL", nobody), ("EMBED_MODEL", "small")):
        monkeypatch.setenv(f"MEMOREPAIR_{name}", value)
    signed = ["--actor", "ada", "--reason", "r"]
    for command in (
        ["list"], ["get", "user/42::home"], ["search", "Paris", "--scope", "user/42"], ["check"],
        ["history", "user/42::home"], ["delete", "user/42::home", *signed], ["undo", "1", *signed],
    ):  # fmt: skip
        told = CliRunner().invoke(app, [command[0], "--db", db, *command[1:]])
        assert told.exit_code == 0, (command, told.output)
    assert posts == []


def test_who_gives_no_dimension_is_asked_once_and_told_once(
    nobody: str, posts: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    endpoint = Endpoint(
        base_url=nobody, model="small", key_variable=None, attempts=2, sleep=lambda seconds: None
    )
    late = LateEndpoint(endpoint=endpoint, clock=lambda: now[0])
    with Memory.open(tmp_path / "agent.db", embedder=None) as memory:
        memory.record("Lives in Paris", id="home", scope=SCOPE)
    with Memory.open(tmp_path / "agent.db", embedder=late) as memory:
        for _ in range(3):
            with pytest.raises(StepFailed, match="small has not told its dimension: the connection failed"):
                memory.record("Plays the cello", id="a", scope=SCOPE)
        with pytest.raises(StepFailed):
            memory.search("Paris", scope=SCOPE, by="vector")
        assert [one.key.id for one in memory.list()] == ["home"]
        memory.correct("user/42::home", "Lives in Lyon", actor="ada", reason="moved")
        assert memory.get("user/42::home").content == "Lives in Lyon"
        report = memory.patrol(["model"]).report
        assert report is not None
        assert any(left.startswith("drift") for left in report.checkup.left_out)
        assert any("not told" in left for left in memory.checkup().checkup.left_out)
        assert memory.vectors().embedder is None
        assert len(posts) == 2
        assert sum("has not told its dimension" in one.message for one in caplog.records) == 1
        now[0] = REST_S
        with pytest.raises(StepFailed):
            late.embed(["tea"])
        assert len(posts) == 4


def test_who_has_told_a_dimension_is_not_asked_for_it_again(server: Server) -> None:
    server.script = [good]
    endpoint = Endpoint(base_url=server.url, model="small", key_variable=None)
    late = LateEndpoint(endpoint=endpoint, revision="3")
    before = late.known
    assert [late.dimension, late.dimension] == [4, 4]
    assert (before, late.known) == (False, True)
    assert np.allclose(np.linalg.norm(late.embed(["tea", "cello"]), axis=1), 1)
    assert [len(one["input"]) for one in server.asked] == [1, 2]
    made: Callable[..., object] = LateEndpoint
    for bad in ({"endpoint": None}, {"revision": 1}, {"normalised": 1}):
        with pytest.raises(InvalidInput):
            made(**{"endpoint": endpoint, **bad})


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMOREPAIR_EMBEDDER", raising=False)
    assert from_environment() == HashedNgrams()
    assert named("hashed:256") == HashedNgrams(dimension=256)
    assert named("none") is None
    for wrong in ("hashed:many", "hashed:0", "gpt", "none:1", ""):
        with pytest.raises(InvalidInput):
            named(wrong)


@pytest.mark.parametrize("bad", [{"dimension": 0}, {"batch": 0}, {"characters": 0}, {"endpoint": None}])
def test_impossible_settings_are_refused(server: Server, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        embedder(server, **bad)


# the packaged model ----------------------------------------------------------------------------------------


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    """A stand-in for the package, with the interface of its version 0.1.0; what its model was asked."""
    asked: list[tuple[list[str], dict[str, Any]]] = []

    class Model:
        def encode(self, sentences: list[str], **how: Any) -> Any:
            asked.append((sentences, how))
            return HashedNgrams().embed(sentences)

    def load_model(device: str | None = None) -> Model:
        asked.append(([f"loaded on {device}"], {}))
        return Model()

    module = ModuleType(minilm.PACKAGE)
    module.__dict__.update(load_model=load_model, __spec__=ModuleSpec(minilm.PACKAGE, None))
    monkeypatch.setitem(sys.modules, minilm.PACKAGE, module)
    minilm._loaded.cache_clear()
    return asked


def test_the_packaged_model_is_loaded_once_where_it_is_used(
    package: list[tuple[list[str], dict[str, Any]]], tmp_path: Path
) -> None:
    model = MiniLM(batch=8)
    assert package == []
    assert space_of(model)[2:] == (384, True)
    made = model.embed(["tea", "", "the cello"])
    assert made.shape == (3, 384)
    assert not made[1].any()
    assert not model.embed([" "]).any()
    loaded, (texts, how) = package
    assert loaded[0] == ["loaded on cpu"]
    assert (texts, how["batch_size"], how["normalize_embeddings"]) == (["tea", "the cello"], 8, True)
    with Memory.open(tmp_path / "agent.db", embedder=named("minilm")) as memory:
        memory.record("plays the cello", id="a", scope=SCOPE)
        assert memory.search("cello", scope=SCOPE, by="vector")[0].artifact.key.id == "a"
    with pytest.raises(InvalidInput):
        MiniLM(batch=0)


def test_without_its_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"memorepair\[minilm\]"):
        MiniLM()
