-- What an archive has of a transcript, and events has no more: its first events, a row for each piece of them, which
-- follow one another from number 1 on; transcripts.dropped is where they end. seal is the last frame of the seal
-- that covers them. digests are the SHA-256 of the events, 32 bytes each, in order.
CREATE TABLE dropped (
  transcript INTEGER NOT NULL REFERENCES transcripts (id),
  first      INTEGER NOT NULL,
  last       INTEGER NOT NULL,
  archive    TEXT    NOT NULL,
  seal       INTEGER NOT NULL,
  digests    BLOB    NOT NULL,
  PRIMARY KEY (transcript, last)
) STRICT;

ALTER TABLE transcripts ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
