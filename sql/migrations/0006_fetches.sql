-- What is still to be had from a sender's own service: the answers of a lead that its webhook only names, and the files
-- that came with messages.

-- One thing to be read there.  A read is harmless, so it may be made twice; its result is kept once.
CREATE TABLE fetches (
    event_id    uuid NOT NULL REFERENCES events,
    what        text NOT NULL CHECK (what IN ('lead', 'media')),
    source      text NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Null when it is over; while one is under way, when another worker may take it.
    due_at      timestamptz DEFAULT clock_timestamp(),
    claim_token uuid,
    -- Those that came to nothing by its own fault; what its whole lane is parked for is none of its tries.
    tries       integer NOT NULL DEFAULT 0,
    -- Why it is not here yet, or never will be.
    reason      text,
    ended_at    timestamptz,
    -- The revision of the lead that holds what was read; null where nothing was.
    revision    integer,
    -- A file: how the texts in the CRM name it, what it is by its sender's word, and its size in bytes once it is here.
    reference   text,
    mime_type   text,
    size        bigint,
    PRIMARY KEY (event_id, what),
    CONSTRAINT due_until_it_ends CHECK ((due_at IS NULL) = (ended_at IS NOT NULL)),
    CONSTRAINT in_vain_says_why CHECK (ended_at IS NULL OR num_nonnulls(revision, size, reason) >= 1)
);
CREATE INDEX fetches_due ON fetches (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX fetches_by_reference ON fetches (reference) WHERE reference IS NOT NULL;
CREATE INDEX fetches_of_source ON fetches (source, tries, asked_at) WHERE due_at IS NOT NULL;

-- The lane of a source in which its fetches run; parked as a whole when its credential works no more.
CREATE TABLE fetch_lanes (
    source        text PRIMARY KEY,
    what          text NOT NULL CHECK (what IN ('lead', 'media')),
    parked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    parked_reason text NOT NULL,
    -- When one of its fetches is tried again, to see whether it works.
    control_at    timestamptz NOT NULL
);

-- Deliveries that wait for a fetch.
CREATE INDEX deliveries_fetching ON deliveries (source)
    WHERE state = 'waiting' AND reason IN ('fetch_pending', 'fetch_failed', 'fetch_parked');

-- Sources whose senders are asked now and then for what their webhooks lost.  The worker that moves the due time does it.
CREATE TABLE pulls (
    source      text PRIMARY KEY,
    -- Whatever its sender had before this has been read.
    read_until  timestamptz NOT NULL,
    -- Null: it is not pulled any more by the clock.
    due_at      timestamptz,
    claim_token uuid,
    ended_at    timestamptz,
    -- Why the last one came to nothing.
    failure     text
);
CREATE INDEX pulls_due ON pulls (due_at) WHERE due_at IS NOT NULL;

-- Files are sealed, and kept where everything else of their event is.
ALTER TABLE bodies DROP CONSTRAINT bodies_what_check;
ALTER TABLE bodies ADD CONSTRAINT bodies_what_check
    CHECK (what IN ('raw', 'sealed', 'lead', 'media', 'request', 'answer', 'values'));
ALTER TABLE bodies DROP CONSTRAINT owner_of_its_kind;
ALTER TABLE bodies ADD CONSTRAINT owner_of_its_kind CHECK (
    CASE what WHEN 'raw' THEN receipt_id IS NOT NULL
              WHEN 'sealed' THEN receipt_id IS NOT NULL
              WHEN 'lead' THEN event_id IS NOT NULL AND revision IS NOT NULL
              WHEN 'media' THEN event_id IS NOT NULL
              WHEN 'values' THEN num_nonnulls(record_id, attempt_id) = 1
              ELSE attempt_id IS NOT NULL END);
CREATE UNIQUE INDEX one_media_per_event ON bodies (event_id) WHERE what = 'media';
