"""Notes: what housekeeping keeps beside the artifacts, under the journal's seals; never content."""

from __future__ import annotations

import json
from collections.abc import Mapping

from memorepair.memory.artifact import Json
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Fault
from memorepair.memory.journal import Journal
from memorepair.memory.secret import Secret
from memorepair.memory.values import check_word, to_json

NOTE = "note"
"""The entry that covers a note."""


class Notes:
    """Books of named JSON values; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal) -> None:
        self._db = db
        self._journal = journal

    def read(self, book: str) -> dict[str, Json]:
        """All notes of a book, in order of their names."""
        rows = self._db.rows("SELECT name, body FROM note WHERE book = ? ORDER BY name", (book,))
        return {name: json.loads(body) for name, body in rows}

    def write(self, book: str, notes: Mapping[str, Json], *, actor: str | None, reason: str | None) -> None:
        """Replace notes; None removes one. Each is an entry of its own, so that each still verifies later."""
        check_word(book, "a book")
        for name, value in notes.items():
            check_word(name, "the name of a note")
            if value is None:
                self._db.run("DELETE FROM note WHERE book = ? AND name = ?", (book, name))
                continue
            body = to_json(value, f"note {name}", name)
            with self._journal.entry(NOTE, actor=actor, reason=reason) as seq:
                self._db.run(
                    """INSERT INTO note(book, name, seq, body) VALUES(?,?,?,?)
                    ON CONFLICT(book, name) DO UPDATE SET seq = excluded.seq, body = excluded.body""",
                    (book, name, seq, body),
                )
                self._journal.book(seq, [book, name, body])


def check_notes(db: Connection, secret: Secret) -> list[Fault]:
    """Notes that are not what was written."""
    rows = db.rows(
        """SELECT n.book, n.name, n.body, j.also FROM note n
        LEFT JOIN journal j ON j.seq = n.seq AND j.act = ? ORDER BY n.book, n.name""",
        (NOTE,),
    )
    return [
        Fault(code="note", message=f"note {name} of {book} is not what was written", witness=name)
        for book, name, body, also in rows
        if secret.books([book, name, body]) != also
    ]
