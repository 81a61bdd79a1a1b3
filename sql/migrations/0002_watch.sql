-- What watches: reconciliation night by night, the conditions that hold and what was said about them, and refusals.

-- An accusation of the reconciliation may be about a row that is no more, or about a record that only the CRM has.
ALTER TABLE items ADD COLUMN subject text;
ALTER TABLE items DROP CONSTRAINT item_is_about_something;
ALTER TABLE items ADD CONSTRAINT item_is_about_something
    CHECK (num_nonnulls(event_id, receipt_id, record_id, subject) >= 1);
DROP INDEX one_open_incident;
CREATE UNIQUE INDEX one_open_incident ON items (record_id, reason)
    WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NULL;
CREATE UNIQUE INDEX one_open_accusation ON items (subject, reason)
    WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NOT NULL;
CREATE INDEX accusations ON items (subject, reason) WHERE subject IS NOT NULL;

-- Which deliveries stand on a record.
CREATE INDEX deliveries_of_contact ON deliveries (contact_record) WHERE contact_record IS NOT NULL;
CREATE INDEX deliveries_of_opportunity ON deliveries (opportunity_record) WHERE opportunity_record IS NOT NULL;
CREATE INDEX deliveries_of_task ON deliveries (task_record) WHERE task_record IS NOT NULL;
CREATE INDEX deliveries_of_note ON deliveries (note_record) WHERE note_record IS NOT NULL;
CREATE INDEX events_of_receipt ON events (receipt_id);
CREATE INDEX contact_keys_by_reference ON contact_keys (reference);

-- What happens once a day, however many clocks there are: the first that writes the row does it.
CREATE TABLE daily (
    name text NOT NULL CHECK (name IN ('reconcile', 'digest')),
    day  date NOT NULL,
    at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, day)
);

-- What happens every so often, once for all clocks: whoever moves the due time does it.
CREATE TABLE rounds (
    name   text PRIMARY KEY,
    due_at timestamptz NOT NULL
);

-- A reconciliation on its way, page by page; any worker goes on where another stopped.  `at`: where it stands.
CREATE TABLE reconciliation_runs (
    run_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    since       timestamptz,
    at          jsonb NOT NULL DEFAULT '{}',
    due_at      timestamptz DEFAULT clock_timestamp(),
    claim_token uuid,
    ended_at    timestamptz,
    CONSTRAINT due_until_it_ends CHECK ((due_at IS NULL) = (ended_at IS NOT NULL))
);
CREATE INDEX reconciliation_runs_due ON reconciliation_runs (due_at) WHERE due_at IS NOT NULL;

-- What holds now that somebody should know, and what was said of it.  Names and counts; no payload.
CREATE TABLE conditions (
    name        text NOT NULL,
    subject     text NOT NULL,
    since       timestamptz NOT NULL,
    count       bigint NOT NULL,
    -- When the newest of what it counts came; the newest that was told, and when; whether this time it was told at all.
    newest_at   timestamptz NOT NULL,
    told_newest timestamptz,
    told_at     timestamptz,
    told        boolean NOT NULL DEFAULT false,
    -- Null while it holds; what is over stays, so that it is known when.
    ended_at    timestamptz,
    PRIMARY KEY (name, subject)
);

-- What is to be said, once for each channel, and again until it is taken.
CREATE TABLE outbox (
    message_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    channel    text NOT NULL CHECK (channel IN ('webhook', 'email')),
    kind       text NOT NULL CHECK (kind IN ('change', 'digest', 'test')),
    content    jsonb NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0,
    due_at     timestamptz DEFAULT clock_timestamp(),
    sent_at    timestamptz,
    failure    text
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_by_time ON outbox (made_at);

-- What the door refused, by the hour; `source` '' where it was none of ours.
CREATE TABLE refusals (
    source text NOT NULL,
    reason text NOT NULL,
    hour   timestamptz NOT NULL,
    count  bigint NOT NULL,
    PRIMARY KEY (source, reason, hour)
);
