-- One row a partition of STENO_EVENTS. epoch counts its claims; the rest is the position.
CREATE TABLE partitions (
  partition INTEGER PRIMARY KEY,
  epoch     INTEGER NOT NULL,
  created   TEXT    NOT NULL DEFAULT '',
  seq       INTEGER NOT NULL DEFAULT 0,
  digest    TEXT    NOT NULL DEFAULT ''
) STRICT;

-- key is namespace/workflow/run/activity/attempt. open is a JSON object, session to frames;
-- shared is a JSON array of closed ranges of frames.
-- parked_reason is empty while the capture is not parked.
CREATE TABLE captures (
  id             INTEGER PRIMARY KEY,
  key            TEXT    NOT NULL UNIQUE,
  partition      INTEGER NOT NULL DEFAULT 0,
  last_frame     INTEGER NOT NULL DEFAULT 0,
  last_part      INTEGER NOT NULL DEFAULT 0,
  chain          TEXT    NOT NULL DEFAULT '',
  translator     TEXT    NOT NULL DEFAULT '',
  status         TEXT    NOT NULL DEFAULT '',
  open           TEXT    NOT NULL DEFAULT '',
  accounted      INTEGER NOT NULL DEFAULT 0,
  last_counted   INTEGER NOT NULL DEFAULT 0,
  shared         TEXT    NOT NULL DEFAULT '',
  parked_reason  TEXT    NOT NULL DEFAULT '',
  parked_session INTEGER NOT NULL DEFAULT 0,
  parked_ordinal INTEGER NOT NULL DEFAULT 0,
  parked_have    BLOB,
  parked_got     BLOB,
  parked_seq     INTEGER NOT NULL DEFAULT 0,
  parked_at      TEXT    NOT NULL DEFAULT ''
) STRICT;

-- added_at is in nanoseconds since 1970; the other times are RFC 3339 or empty. labels is JSON.
CREATE TABLE transcripts (
  id           INTEGER PRIMARY KEY,
  capture      INTEGER NOT NULL REFERENCES captures (id),
  session      INTEGER NOT NULL,
  head         INTEGER NOT NULL DEFAULT 0,
  frames       INTEGER NOT NULL DEFAULT 0,
  messages     INTEGER NOT NULL DEFAULT 0,
  agent        TEXT    NOT NULL DEFAULT '',
  title        TEXT    NOT NULL DEFAULT '',
  cwd          TEXT    NOT NULL DEFAULT '',
  labels       TEXT    NOT NULL DEFAULT '',
  status       TEXT    NOT NULL DEFAULT '',
  prompt       TEXT    NOT NULL DEFAULT '',
  protocol     TEXT    NOT NULL DEFAULT '',
  dialect      TEXT    NOT NULL DEFAULT '',
  session_id   TEXT    NOT NULL DEFAULT '',
  stop         TEXT    NOT NULL DEFAULT '',
  first_at     TEXT    NOT NULL DEFAULT '',
  last_at      TEXT    NOT NULL DEFAULT '',
  added_at     INTEGER NOT NULL DEFAULT 0,
  UNIQUE (capture, session)
) STRICT;

CREATE INDEX transcripts_newest ON transcripts (added_at, id);

-- event is the encoding, with store_seq in it, byte for byte: never a JSON type, and never text,
-- which would end at U+0000.
CREATE TABLE events (
  transcript INTEGER NOT NULL REFERENCES transcripts (id),
  store_seq  INTEGER NOT NULL,
  event      BLOB    NOT NULL,
  PRIMARY KEY (transcript, store_seq)
) STRICT;
