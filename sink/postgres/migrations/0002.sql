-- The index of the search. It is filled behind the ledger, in transactions of its own, and can be made
-- again.

-- How far each transcript is indexed. Its row is locked by whoever indexes it.
CREATE TABLE steno.indexed (
  transcript bigint PRIMARY KEY,
  head       bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- What an event says, as words that are folded already. An event that one tsvector does not take has
-- several pieces, and then many is true. at is in nanoseconds since 1970.
CREATE TABLE steno.words (
  transcript bigint   NOT NULL,
  store_seq  bigint   NOT NULL,
  piece      bigint   NOT NULL,
  many       boolean  NOT NULL,
  at         bigint   NOT NULL,
  line       tsvector NOT NULL,
  PRIMARY KEY (transcript, store_seq, piece)
);

CREATE INDEX words_line ON steno.words USING gin (line);
CREATE INDEX words_many ON steno.words USING gin (line) WHERE many;

-- What could not be indexed, and why.
CREATE TABLE steno.unindexed (
  transcript bigint NOT NULL,
  store_seq  bigint NOT NULL,
  why        bytea  NOT NULL,
  PRIMARY KEY (transcript, store_seq)
);
