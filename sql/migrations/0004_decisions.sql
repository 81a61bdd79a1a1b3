-- What people decide: approvals of exactly one content, records made anew, sources paused, senders blocked, bulk runs.

-- An event that a person made of another one, for a second opportunity on purpose.
ALTER TABLE events ADD COLUMN reissue_of uuid REFERENCES events;
CREATE INDEX events_reissued ON events (reissue_of) WHERE reissue_of IS NOT NULL;

-- The need that took a conversation over when this one's opportunity was closed, deleted, or never opened.
ALTER TABLE needs ADD COLUMN successor bigint REFERENCES needs;

-- The record made anew in place of one that is gone; whoever names this one means that one.
ALTER TABLE records ADD COLUMN replaced_by bigint REFERENCES records;
ALTER TABLE records ADD CONSTRAINT replaced_is_gone CHECK (replaced_by IS NULL OR state = 'gone');

-- Who gets an open item of it, by the rule of its source.
ALTER TABLE deliveries ADD COLUMN assignee text;
-- Which revision of its lead was approved, and until when; approved_until NULL: for good, or no approval was asked.
ALTER TABLE deliveries ADD COLUMN approved_revision integer;
ALTER TABLE deliveries ADD COLUMN approved_until timestamptz;
-- True: a person wants the note also on an opportunity that is closed.
ALTER TABLE deliveries ADD COLUMN note_anyway boolean NOT NULL DEFAULT false;
CREATE INDEX deliveries_expiring ON deliveries (approved_until)
    WHERE approved_until IS NOT NULL AND state IN ('received', 'waiting');

-- Sources that a person paused: they accept, and nothing of theirs is delivered.
CREATE TABLE paused_sources (
    source    text PRIMARY KEY,
    paused_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Contact keys of senders whom a person marked as spam: later leads of theirs wait for a person, and are never dropped.
CREATE TABLE blocked_keys (
    mode       text NOT NULL CHECK (mode IN ('live', 'test')),
    key        bytea NOT NULL,
    event_id   uuid NOT NULL REFERENCES events,
    blocked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (mode, key)
);
CREATE INDEX blocked_by_event ON blocked_keys (event_id);

-- One decision about many events.  Its events are fixed when it is made; whoever lives goes on with what is left.
CREATE TABLE bulk_runs (
    bulk_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    action     text NOT NULL,
    author     text NOT NULL CHECK (author <> ''),
    reason     text NOT NULL CHECK (reason <> ''),
    filter     jsonb NOT NULL DEFAULT '{}',
    stopped_at timestamptz
);
CREATE TABLE bulk_items (
    bulk_id  bigint NOT NULL REFERENCES bulk_runs,
    event_id uuid NOT NULL REFERENCES events,
    -- NULL: not done yet.  Else done, or why it was refused.
    result   text,
    done_at  timestamptz,
    PRIMARY KEY (bulk_id, event_id),
    CONSTRAINT done_says_what CHECK ((result IS NULL) = (done_at IS NULL))
);
CREATE INDEX bulk_items_left ON bulk_items (bulk_id, event_id) WHERE result IS NULL;

-- As before, and it says whose the item is: whoever had the last one of this delivery, else by the rule of the source.
CREATE OR REPLACE FUNCTION keep_item_of_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state IN ('awaiting_approval', 'uncertain', 'review') THEN
        INSERT INTO items (kind, reason, mode, source, event_id, generation, record_id, fields, assignee)
        VALUES ('delivery', NEW.reason, NEW.mode, NEW.source, NEW.event_id, NEW.generation, NEW.blocked_on, NEW.fields,
                coalesce((SELECT assignee FROM items
                           WHERE kind = 'delivery' AND event_id = NEW.event_id AND generation = NEW.generation
                           ORDER BY item_id DESC LIMIT 1), NEW.assignee))
        ON CONFLICT (event_id, generation) WHERE kind = 'delivery' AND closed_at IS NULL
        DO UPDATE SET reason = EXCLUDED.reason, fields = EXCLUDED.fields, record_id = EXCLUDED.record_id;
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE items SET closed_at = clock_timestamp(), resolution = NEW.state
         WHERE kind = 'delivery' AND event_id = NEW.event_id AND generation = NEW.generation AND closed_at IS NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE INDEX items_of_delivery ON items (event_id, generation, item_id) WHERE kind = 'delivery';
