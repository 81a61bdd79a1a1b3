-- What the desk asks for among millions of events, and had no index.

-- All events of one CRM: those that are final, by the way in that they came, the newest last.
CREATE INDEX deliveries_of_crm ON deliveries (destination, source, mode, received_at, event_id)
    WHERE state IN ('confirmed', 'cancelled', 'superseded');
-- A reference, or its beginning, that a person has in hand.
DROP INDEX records_by_reference;
CREATE INDEX records_by_reference ON records (reference text_pattern_ops);

-- What a worker knows of a CRM account and people want to see: whose client speaks to it, the limits of calls that it
-- keeps there, and what the CRM said last of a day's quota.  No credential.
CREATE TABLE account_facts (
    destination text PRIMARY KEY,
    client      text NOT NULL,
    -- False: this client never ran against a server that keeps state.
    verified    boolean NOT NULL,
    -- [{"bucket", "calls": published, "ours": how many of them we use, "milliseconds"}]
    limits      jsonb NOT NULL DEFAULT '[]',
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- How many calls the CRM lets through until its day ends, and of how many; null: it never said.
    quota_left  bigint,
    quota_of    bigint,
    quota_at    timestamptz,
    CONSTRAINT quota_has_a_time CHECK ((quota_left IS NULL) = (quota_at IS NULL))
);

-- The content that was seen of an event when one decision about many was made; null: it had none, or an older run.
ALTER TABLE bulk_items ADD COLUMN revision integer;
