"""Lockfiles as recordings: what each package requires (uv), and who asks for each package (npm)."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from memorepair.adapters.files import inside, read_json, read_text
from memorepair.adapters.folders import each_of
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, object_of, text_of
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Source
from memorepair.repair.jsontext import canonical

_NPM = (("dependencies", False), ("optionalDependencies", True), ("peerDependencies", True))
"""Fields that name what a package asks for, and whether it does without."""

_INSIDE = "node_modules/"


# uv -----------------------------------------------------------------------------------------------


def read_uv(path: Path) -> Recording:
    """Packages of a ``uv.lock``, or of all in a folder (`each_of`).

    Every requirement is needed, and a package that loses one is affected.
    Extras and groups count as requirements, markers are not read: of what differs between platforms, all is
    required.

    Raises
    ------
    InvalidFile
        The witness names file and field.

    Source: https://docs.astral.sh/uv/concepts/projects/layout/#the-lockfile.
    """
    return each_of(path, ("uv.lock",), _read_uv)


def _read_uv(path: Path) -> Recording:
    text = read_text(path)
    try:
        lock: Row = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidFile(f"{path.name}: not TOML: {error}", witness=path.name) from error
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{path.name}: a number too long, or nested too deep", witness=path.name) from error
    with inside(path.name):
        return _uv(lock)


def _uv(lock: Row) -> Recording:
    recorder = Recorder("uv-lock", form="requirements")
    if "version" not in lock:
        raise InvalidInput("this is no uv.lock: it has no version", witness="version")
    packages: list[tuple[str, Row, str]] = []
    known: defaultdict[str, dict[str, str]] = defaultdict(dict)  # name -> version -> id
    for number, raw in enumerate(as_list(lock.get("package") or [], "package")):
        where = f"package[{number}]"
        package = as_object(raw, where)
        name = text_of(package, "name", where)
        version = as_text(package.get("version") or "", f"{where}.version")
        id = f"{name}=={version}" if version else name
        recorder.add(_package(id, {"name": name, "version": version, "source": package.get("source")}))
        packages.append((id, package, where))
        known[name][version] = id
    for id, package, where in packages:
        required: dict[str, None] = {}
        for needed, place in _uv_needs(package, where):
            name = text_of(needed, "name", place)
            versions = known.get(name, {})
            given = needed.get("version")
            ids = [versions[given]] if isinstance(given, str) and given in versions else versions.values()
            if not ids:
                recorder.miss("requirements that no package meets", f"{id} -> {name}")
            elif len(ids) > 1:
                recorder.miss("requirements of a name with several versions, all required", f"{id} -> {name}")
            required.update(dict.fromkeys(ids))
        for group, other in enumerate(required):
            recorder.link(other, id, Relation.SUPPORT, group=group)
    return recorder.finish()


def _uv_needs(package: Row, where: str) -> Iterator[tuple[Row, str]]:
    lists = [(as_list(package.get("dependencies") or [], f"{where}.dependencies"), f"{where}.dependencies")]
    for field in ("optional-dependencies", "dev-dependencies"):
        for name, needs in as_object(package.get(field) or {}, f"{where}.{field}").items():
            lists.append((as_list(needs, f"{where}.{field}.{name}"), f"{where}.{field}.{name}"))
    for needs, place in lists:
        for number, needed in enumerate(needs):
            yield as_object(needed, f"{place}[{number}]"), f"{place}[{number}]"


# npm ----------------------------------------------------------------------------------------------


def read_npm(path: Path) -> Recording:
    """Packages of a ``package-lock.json``, version 2 or 3, or of all in a folder (`each_of`).

    A package stays while somebody asks for it.
    Each arc is a support group of its own. A root, which is an entry outside ``node_modules``, stands by
    itself; what only its ``devDependencies`` ask for stands on the artifact ``ROOT#dev``.

    Raises
    ------
    InvalidFile
        The witness names file and field.

    Source: https://docs.npmjs.com/cli/configuring-npm/package-lock-json.
    """
    return each_of(path, ("package-lock.json",), _read_npm)


def _read_npm(path: Path) -> Recording:
    return read_json(path, lambda value: _npm(as_object(value, "lock")))


def root_id(place: str) -> str:
    """The artifact of a root at `place`, which is empty for the project itself."""
    return place or "."


def _npm(lock: Row) -> Recording:
    recorder = Recorder("npm-lock")
    if "packages" not in lock:
        raise InvalidInput(
            "lockfileVersion 1 has no packages; npm 7 or newer writes them", witness="packages"
        )
    packages = {
        place: as_object(package, f"packages.{place}")
        for place, package in object_of(lock, "packages", "lock").items()
    }
    for place, package in packages.items():
        about: Row = {name: package.get(name) for name in ("name", "version", "resolved", "integrity")}
        recorder.add(_package(root_id(place), about))
        if _INSIDE not in place and "devDependencies" in package:
            declared = object_of(package, "devDependencies", f"packages.{place}")
            recorder.add(_package(f"{root_id(place)}#dev", {"devDependencies": declared}))
    asked: defaultdict[str, int] = defaultdict(int)
    for place, package in packages.items():
        for asker, name, optional in _npm_asks(place, package):
            found = _resolve(packages, place, name)
            if found is None:
                if not optional:
                    recorder.miss("packages that are asked for and not locked", f"{asker} -> {name}")
                continue
            recorder.link(asker, root_id(found), Relation.SUPPORT, group=asked[found])
            asked[found] += 1
    return recorder.finish()


def _npm_asks(place: str, package: Row) -> Iterator[tuple[str, str, bool]]:
    fields = [(root_id(place), field, optional) for field, optional in _NPM]
    if _INSIDE not in place:
        fields.append((f"{root_id(place)}#dev", "devDependencies", False))
    for asker, field, optional in fields:
        for name in as_object(package.get(field) or {}, f"packages.{place}.{field}"):
            yield asker, name, optional


def _resolve(packages: dict[str, Row], place: str, name: str) -> str | None:
    """Where node finds `name` from `place`: in the nearest ``node_modules`` around it."""
    around = place
    while True:
        found = f"{around}/{_INSIDE}{name}" if around else f"{_INSIDE}{name}"
        if found in packages:
            return found
        if not around:
            return None
        outer, inside, _ = around.rpartition(f"/{_INSIDE}")
        around = outer if inside else ""


def _package(id: str, about: Row) -> Item:
    told: Row = {name: value for name, value in about.items() if value not in (None, "")}
    return Item(id=id, what="packages", content=canonical(told), source=Source.SYSTEM)
