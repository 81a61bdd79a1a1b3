-- What is purged by its age, and who is forgotten.

-- Its events went with their identities; it is known still, and nobody asks for them.
ALTER TABLE records ADD COLUMN purged_at timestamptz;

-- People whose data was erased, by keyed hashes of their phone numbers, addresses and WhatsApp ids.  What came until
-- then is erased again where an earlier copy of the database brings it back.  The same list stands in a file of the
-- home of the host that erased, `forgotten.jsonl`.
CREATE TABLE forgotten (
    forgotten_id uuid PRIMARY KEY,
    at           timestamptz NOT NULL,
    author       text NOT NULL CHECK (author <> ''),
    reason       text NOT NULL CHECK (reason <> ''),
    keys         bytea[] NOT NULL CHECK (cardinality(keys) >= 1),
    -- How many rows of what were erased; null: it was begun, and has not ended yet.
    counts       jsonb
);
CREATE TRIGGER stays BEFORE DELETE ON forgotten FOR EACH ROW EXECUTE FUNCTION refuse_change();
