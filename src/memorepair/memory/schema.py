"""Schema: the tables of a store as numbered migrations.

Content lies in `content`, `vector` and `recipe` only, apart from everything that is rewritten: their rows are
inserted in ascending order and deleted, never updated and never indexed by content, so `secure_delete`
leaves no stale copy of a moved cell behind. A row of `barrier` bars a version; no row means it is served if
it is current.
"""

from __future__ import annotations

APPLICATION_ID = int.from_bytes(b"MeRp", "big")
"""Marks our files (PRAGMA application_id)."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE scope(sid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        # cur: newest published version. born: of version 1.
        """CREATE TABLE artifact(
            aid INTEGER PRIMARY KEY, sid INTEGER NOT NULL REFERENCES scope, id TEXT NOT NULL,
            cur INTEGER NOT NULL, born INTEGER NOT NULL, UNIQUE(sid, id))""",
        # digest: of the text. words: of what it says, whatever its case, width and white space. made: of the
        # rest of the row, the description and the recipe.
        """CREATE TABLE version(
            vid INTEGER PRIMARY KEY AUTOINCREMENT, aid INTEGER NOT NULL REFERENCES artifact,
            no INTEGER NOT NULL, born INTEGER NOT NULL, kind INTEGER NOT NULL, arch INTEGER NOT NULL,
            size INTEGER NOT NULL, digest BLOB NOT NULL, words BLOB NOT NULL, made BLOB NOT NULL,
            UNIQUE(aid, no))""",
        "CREATE INDEX version_words ON version(aid, words)",
        """CREATE TABLE barrier(
            vid INTEGER PRIMARY KEY REFERENCES version, state INTEGER NOT NULL, cause INTEGER)""",
        "CREATE INDEX barrier_cause ON barrier(cause, state)",
        # Staged successors that are neither published nor rejected.
        "CREATE TABLE staged(vid INTEGER PRIMARY KEY REFERENCES version, cause INTEGER NOT NULL)",
        # Arcs into current versions; src and dst are artifacts, so a cascade needs no join to version.
        # pos ascends in the order of the reads of one artifact: operators see their inputs in it.
        """CREATE TABLE arc(
            src INTEGER NOT NULL, src_vid INTEGER NOT NULL, dst INTEGER NOT NULL, rel INTEGER NOT NULL,
            grp INTEGER NOT NULL, pos INTEGER NOT NULL,
            PRIMARY KEY(src, src_vid, dst, rel, grp)) WITHOUT ROWID""",
        "CREATE INDEX arc_in ON arc(dst)",
        # Arcs into versions that were current.
        """CREATE TABLE arc_old(
            dst_vid INTEGER NOT NULL, src_vid INTEGER NOT NULL, rel INTEGER NOT NULL, grp INTEGER NOT NULL,
            pos INTEGER NOT NULL, PRIMARY KEY(dst_vid, src_vid, rel, grp)) WITHOUT ROWID""",
        "CREATE INDEX arc_old_out ON arc_old(src_vid)",
        # Before-images of the arcs that a release (journal entry seq) has re-pointed.
        """CREATE TABLE arc_image(
            seq INTEGER NOT NULL, dst_vid INTEGER NOT NULL, src_vid INTEGER NOT NULL, rel INTEGER NOT NULL,
            grp INTEGER NOT NULL, pos INTEGER NOT NULL,
            PRIMARY KEY(seq, dst_vid, src_vid, rel, grp)) WITHOUT ROWID""",
        # Suspected arcs, accepted (1) or rejected (0); apart from recorded ones, and without content.
        # firm: followed at any threshold. cause: the case that brought it, NULL where a person did.
        """CREATE TABLE suspected(
            src INTEGER NOT NULL, src_vid INTEGER NOT NULL, dst INTEGER NOT NULL, dst_vid INTEGER NOT NULL,
            p REAL, firm INTEGER NOT NULL, why TEXT NOT NULL, accepted INTEGER NOT NULL, cause INTEGER,
            PRIMARY KEY(src, src_vid, dst_vid)) WITHOUT ROWID""",
        "CREATE INDEX suspected_in ON suspected(dst)",
        """CREATE TABLE semantic(
            dst_vid INTEGER NOT NULL, src INTEGER NOT NULL, PRIMARY KEY(dst_vid, src)) WITHOUT ROWID""",
        # s: the scope as one trigram, and a mark where a NUL ends what is indexed. meta: JSON of what
        # describes the content, NULL where all is default.
        "CREATE TABLE content(vid INTEGER PRIMARY KEY, s TEXT NOT NULL, text TEXT NOT NULL, meta TEXT)",
        """CREATE TABLE space(
            space INTEGER PRIMARY KEY, model TEXT NOT NULL, revision TEXT NOT NULL,
            dimension INTEGER NOT NULL, normalised INTEGER NOT NULL,
            UNIQUE(model, revision, dimension, normalised))""",
        # given: the vector a draft brought; else the one the store's embedder made. Rows of their own number,
        # so that vectors of another space may come later and still ascend.
        """CREATE TABLE vector(
            row INTEGER PRIMARY KEY AUTOINCREMENT, vid INTEGER NOT NULL REFERENCES version,
            given INTEGER NOT NULL, space INTEGER NOT NULL REFERENCES space, v BLOB NOT NULL)""",
        # While a switch of models is under way a version has a vector in the old and in the new space.
        "CREATE UNIQUE INDEX vector_of ON vector(vid, given, space)",
        "CREATE TABLE recipe(vid INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        # The index holds current versions only, barred or not; so the view is what it must agree with.
        """CREATE VIEW indexed AS SELECT c.vid, c.s, c.text FROM content c
            JOIN version v ON v.vid = c.vid JOIN artifact a ON a.aid = v.aid AND a.cur = v.vid""",
        """CREATE VIRTUAL TABLE fts USING fts5(s, text, content='indexed', content_rowid='vid',
            tokenize='trigram')""",
        # horizon: the newest version when the case was opened. suspected: from which probability on its
        # cascade follows suspected arcs, NULL where it follows recorded ones alone.
        """CREATE TABLE cases(
            cause INTEGER PRIMARY KEY AUTOINCREMENT, tau TEXT NOT NULL, status TEXT NOT NULL,
            at INTEGER NOT NULL, horizon INTEGER NOT NULL, n INTEGER NOT NULL, actor TEXT, reason TEXT,
            delta TEXT NOT NULL, unit_value REAL, unit_cost REAL, attempts INTEGER NOT NULL DEFAULT 0,
            erasure TEXT, suspected REAL)""",
        # Cases that changed the space which searches are answered from.
        "CREATE INDEX case_space ON cases(cause) WHERE substr(delta, 1, 8) = '{\"space\"'",
        """CREATE TABLE case_root(
            cause INTEGER NOT NULL, pos INTEGER NOT NULL, aid INTEGER NOT NULL, vid INTEGER NOT NULL,
            PRIMARY KEY(cause, pos)) WITHOUT ROWID""",
        # What evidence kept in service: the version, and its support group that the event left.
        """CREATE TABLE spared(
            cause INTEGER NOT NULL, vid INTEGER NOT NULL, grp INTEGER NOT NULL,
            PRIMARY KEY(cause, vid)) WITHOUT ROWID""",
        "CREATE INDEX spared_vid ON spared(vid)",
        # also: digest of what the entry has stored in the books of its case, NULL where nothing.
        """CREATE TABLE journal(
            seq INTEGER PRIMARY KEY, cause INTEGER, act TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT,
            reason TEXT, n INTEGER NOT NULL, also BLOB, seal BLOB NOT NULL)""",
        "CREATE INDEX journal_cause ON journal(cause) WHERE cause IS NOT NULL",
        # owner: the case whose barrier stood before, 0 for one of no case, NULL where none stood. arcs: a
        # digest of the arcs into the version from here on, NULL where they stay what they were. suspects: the
        # same of suspected ones.
        """CREATE TABLE journal_row(
            seq INTEGER NOT NULL, vid INTEGER NOT NULL, before INTEGER, after INTEGER, owner INTEGER,
            arcs BLOB, suspects BLOB, PRIMARY KEY(seq, vid)) WITHOUT ROWID""",
        """CREATE TABLE verdict(
            seq INTEGER NOT NULL, vid INTEGER NOT NULL, name TEXT NOT NULL, word TEXT NOT NULL,
            PRIMARY KEY(vid, seq, name)) WITHOUT ROWID""",
        # aid: whose words they were. root: of what the event named, not of what was derived from it.
        """CREATE TABLE tombstone(
            digest BLOB NOT NULL, cause INTEGER NOT NULL, aid INTEGER NOT NULL, root INTEGER NOT NULL,
            PRIMARY KEY(digest, cause, aid)) WITHOUT ROWID""",
        "CREATE INDEX tombstone_cause ON tombstone(cause)",
        "CREATE TABLE usage(aid INTEGER PRIMARY KEY, reads INTEGER NOT NULL, last INTEGER NOT NULL)",
        # A mark on a served version, by a case: its weight for ranking from that instant until it is read
        # again; NULL where a person is to review what it says.
        """CREATE TABLE mark(
            vid INTEGER NOT NULL, cause INTEGER NOT NULL, weight REAL, at INTEGER NOT NULL,
            PRIMARY KEY(vid, cause)) WITHOUT ROWID""",
        # What housekeeping keeps beside the artifacts, JSON without content; seq: the entry that covers it.
        """CREATE TABLE note(
            book TEXT NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY(book, name)) WITHOUT ROWID""",
        # size, cost: means of the runs measured; square: sum of squared deviations from that cost.
        """CREATE TABLE operator_cost(
            operator TEXT NOT NULL, unit TEXT NOT NULL, octave INTEGER NOT NULL, runs INTEGER NOT NULL,
            succeeded INTEGER NOT NULL, seconds REAL NOT NULL, measured INTEGER NOT NULL, size REAL NOT NULL,
            cost REAL NOT NULL, square REAL NOT NULL, PRIMARY KEY(operator, unit, octave)) WITHOUT ROWID""",
    ),
)
"""Migration k, from 1, takes a file from schema k - 1 to k (PRAGMA user_version). Never edit one in use."""

SCHEMA_VERSION = len(MIGRATIONS)
