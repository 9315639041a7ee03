-- What a peer wrote is kept as bytes, in events and in the lists alike: PostgreSQL's text takes neither
-- U+0000 nor what is not UTF-8. Times are RFC 3339 or empty: timestamptz ends at microseconds.
-- Keys sort by their bytes, whatever the database's locale is.

-- One row a partition of STENO_EVENTS. epoch counts its claims; the rest is the position.
CREATE TABLE steno.partitions (
  partition bigint PRIMARY KEY,
  epoch     bigint NOT NULL,
  created   text   NOT NULL DEFAULT '',
  seq       bigint NOT NULL DEFAULT 0,
  digest    text   NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

-- Ids of captures and transcripts. A transaction draws its own: none is ever kept for a later one.
CREATE SEQUENCE steno.ids;

-- key is namespace/workflow/run/activity/attempt. open is a JSON object, session to frames;
-- shared is a JSON array of closed ranges of frames.
-- parked_reason is empty while the capture is not parked.
CREATE TABLE steno.captures (
  id             bigint PRIMARY KEY,
  key            text COLLATE "C" NOT NULL UNIQUE,
  partition      bigint NOT NULL,
  last_frame     bigint NOT NULL,
  last_part      bigint NOT NULL,
  chain          text   NOT NULL,
  translator     text   NOT NULL,
  status         text   NOT NULL,
  open           text   NOT NULL,
  accounted      bigint NOT NULL,
  last_counted   bigint NOT NULL,
  shared         text   NOT NULL,
  parked_reason  text   NOT NULL,
  parked_session bigint NOT NULL,
  parked_ordinal bigint NOT NULL,
  parked_have    bytea,
  parked_got     bytea,
  parked_seq     bigint NOT NULL,
  parked_at      text   NOT NULL
) WITH (fillfactor = 70);

-- added_at is in nanoseconds since 1970. labels is JSON.
CREATE TABLE steno.transcripts (
  id         bigint PRIMARY KEY,
  capture    bigint NOT NULL REFERENCES steno.captures (id),
  session    bigint NOT NULL,
  head       bigint NOT NULL,
  frames     bigint NOT NULL,
  messages   bigint NOT NULL,
  agent      bytea  NOT NULL,
  title      bytea  NOT NULL,
  cwd        bytea  NOT NULL,
  labels     bytea  NOT NULL,
  status     text   NOT NULL,
  prompt     bytea  NOT NULL,
  protocol   bytea  NOT NULL,
  dialect    bytea  NOT NULL,
  session_id bytea  NOT NULL,
  stop       bytea  NOT NULL,
  first_at   text   NOT NULL,
  last_at    text   NOT NULL,
  added_at   bigint NOT NULL,
  UNIQUE (capture, session)
) WITH (fillfactor = 70);

CREATE INDEX transcripts_newest ON steno.transcripts (added_at, id);

-- event is the encoding, with store_seq in it, byte for byte. No foreign key: its check of every row
-- would cost more than the row, and only the transaction that made the transcript can know its id.
CREATE TABLE steno.events (
  transcript bigint NOT NULL,
  store_seq  bigint NOT NULL,
  event      bytea  NOT NULL,
  PRIMARY KEY (transcript, store_seq)
);

-- Who stores which partition. beat is the server's time when a sink was last heard of; partitions of a
-- sink that is not in sinks, or not heard of for too long, are free. Only work is saved by these tables:
-- what makes storing safe is the epoch in partitions.
CREATE TABLE steno.sinks (
  id     text PRIMARY KEY,
  joined bigint GENERATED ALWAYS AS IDENTITY,
  beat   timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE steno.owners (
  partition bigint PRIMARY KEY,
  owner     text NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
