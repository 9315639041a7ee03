-- What an archive has of a transcript, and events has no more: its first events, a row for each piece of them, which
-- follow one another from number 1 on; transcripts.dropped is where they end. seal is the last frame of the seal
-- that covers them. digests are the SHA-256 of the events, 32 bytes each, in order: they do not compress.
CREATE TABLE steno.dropped (
  transcript bigint NOT NULL,
  first      bigint NOT NULL,
  last       bigint NOT NULL,
  archive    text   NOT NULL,
  seal       bigint NOT NULL,
  digests    bytea  NOT NULL,
  PRIMARY KEY (transcript, last)
);

ALTER TABLE steno.dropped ALTER COLUMN digests SET STORAGE EXTERNAL;

ALTER TABLE steno.transcripts ADD COLUMN dropped bigint NOT NULL DEFAULT 0;
