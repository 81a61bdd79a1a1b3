-- What is kept unread (refused bodies, sealed), and ids that turned out to be another's.

ALTER TABLE bodies DROP CONSTRAINT bodies_what_check;
ALTER TABLE bodies ADD CONSTRAINT bodies_what_check
    CHECK (what IN ('raw', 'sealed', 'lead', 'request', 'answer', 'values'));
ALTER TABLE bodies DROP CONSTRAINT owner_of_its_kind;
ALTER TABLE bodies ADD CONSTRAINT owner_of_its_kind CHECK (
    CASE what WHEN 'raw' THEN receipt_id IS NOT NULL
              WHEN 'sealed' THEN receipt_id IS NOT NULL
              WHEN 'lead' THEN event_id IS NOT NULL AND revision IS NOT NULL
              WHEN 'values' THEN num_nonnulls(record_id, attempt_id) = 1
              ELSE attempt_id IS NOT NULL END);

-- Those that were not authentic, kept sealed for some days: a secret may have been wrong.
CREATE INDEX receipts_refused ON receipts (source, received_at) WHERE verdict = 'refused';
-- Those of which something could not be read.
CREATE INDEX receipts_quarantined ON receipts (source, mode) WHERE (counts ->> 'quarantined') <> '0';

-- Ids that were acknowledged while the database was away, and turned out to be known events.
CREATE TABLE event_aliases (
    alias    uuid PRIMARY KEY,
    event_id uuid NOT NULL REFERENCES events,
    made_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
