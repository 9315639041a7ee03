-- What tells this ledger from all others: the index of the search notes whose events it holds.
CREATE TABLE ledger (
  id BLOB NOT NULL
) STRICT;
INSERT INTO ledger VALUES (randomblob(16));
