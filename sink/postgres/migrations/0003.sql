-- What is stored and not indexed yet: a transcript, and a head that it had then. Storing adds rows and
-- indexing takes them away, so that what is behind is found and counted without looking at all transcripts.
CREATE TABLE steno.unread (
  transcript bigint NOT NULL,
  head       bigint NOT NULL
);

CREATE INDEX unread_transcript ON steno.unread (transcript);

INSERT INTO steno.unread (transcript, head)
SELECT t.id, t.head FROM steno.transcripts t LEFT JOIN steno.indexed i ON i.transcript = t.id WHERE t.head > coalesce(i.head, 0);

-- Which words steno.words holds. Where they are of an earlier build, or the table is empty, they are made
-- again from the first event.
CREATE TABLE steno.index_version (
  version bigint NOT NULL
);

INSERT INTO steno.index_version VALUES (1);

-- Which process of a sink's name has the row.
ALTER TABLE steno.sinks ADD COLUMN instance text NOT NULL DEFAULT '';
