-- The index of the search, in a file of its own: its transactions hold up none of the ledger's, and it can
-- be made again from the ledger at any time. user_version says which words it holds.

-- ledger is the id of the ledger that it is of: one that was rebuilt may have the same events in another order.
-- position is the rowid of the last of its events that was looked at, and digest that event's SHA-256: in a
-- ledger that was put back from a copy another one stands there, or none.
CREATE TABLE indexed (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  ledger   BLOB    NOT NULL,
  position INTEGER NOT NULL,
  digest   BLOB    NOT NULL
) STRICT;
INSERT INTO indexed VALUES (1, x'', 0, x'');

-- One row an event that says something; id is the event's rowid. at is in nanoseconds since 1970.
CREATE TABLE places (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  transcript INTEGER NOT NULL,
  seq        INTEGER NOT NULL
) STRICT;

-- What could not be indexed, and why.
CREATE TABLE unindexed (
  id  INTEGER PRIMARY KEY,
  why TEXT    NOT NULL
) STRICT;

-- What had been dropped from the ledger when this was made, and is not in it yet.
CREATE TABLE missing (
  transcript INTEGER PRIMARY KEY,
  next       INTEGER NOT NULL,
  last       INTEGER NOT NULL
) STRICT;

-- The words are folded already: ascii only parts them at spaces.
CREATE VIRTUAL TABLE words USING fts5 (line, content = '', contentless_delete = 1, tokenize = 'ascii');
