-- What an event said may stand in a record that another event of its need makes: messages that are joined.

CREATE TABLE carried (
    event_id   uuid PRIMARY KEY REFERENCES events,
    -- It counts while the event is a part of this need.
    need_id    bigint NOT NULL REFERENCES needs,
    record_id  bigint NOT NULL REFERENCES records,
    -- The event whose delivery makes the record, and whose reference that bears.
    carrier    uuid NOT NULL REFERENCES events,
    carried_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT carried_by_another CHECK (carrier <> event_id)
);
CREATE INDEX carried_by_record ON carried (record_id);
CREATE INDEX carried_by_carrier ON carried (carrier);
