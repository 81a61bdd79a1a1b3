-- The core: what arrived (receipts, events), what becomes of it (needs, deliveries), what we want to exist in a CRM
-- (records), what we asked it (attempts), and what waits for a person (items, decisions).
-- One clock: clock_timestamp().  Payloads stand in `bodies` and nowhere else.

-- Which installation this database belongs to.  The same id and epoch stand in a file outside the database: a copy of
-- the database that runs elsewhere, or an earlier copy brought back, is noticed before anything is delivered.
CREATE TABLE installation (
    only_one        boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    installation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    epoch           integer NOT NULL DEFAULT 1 CHECK (epoch >= 1),
    epoch_opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The key of every HMAC that stands in identities and references.  Another key would name every contact anew.
    identity_key    bytea NOT NULL CHECK (length(identity_key) = 32)
);

-- One HTTP request as it came, authentic.
CREATE TABLE receipts (
    receipt_id   uuid PRIMARY KEY,
    received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    source       text NOT NULL,
    content_type text NOT NULL,
    headers      jsonb NOT NULL DEFAULT '{}',
    verdict      text NOT NULL CHECK (verdict IN ('accepted', 'quarantined', 'ignored', 'refused')),
    counts       jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX receipts_by_source ON receipts (source, mode, received_at);
-- Those that were not authentic, kept sealed for some days: a secret may have been wrong.
CREATE INDEX receipts_refused ON receipts (source, received_at) WHERE verdict = 'refused';
-- Those of which something could not be read.
CREATE INDEX receipts_quarantined ON receipts (source, mode) WHERE (counts ->> 'quarantined') <> '0';

-- One message, submission or quote version.  Immutable.  Its id is a UUIDv5 over its identity (mode, scope, request_id,
-- version), so that the primary key is what keeps an identity unique.
CREATE TABLE events (
    event_id    uuid PRIMARY KEY,
    mode        text NOT NULL CHECK (mode IN ('live', 'test')),
    source      text NOT NULL,
    -- The name under which identity is kept: the source's own, the one it was renamed from, or its identity group.
    scope       text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('form', 'whatsapp', 'quote')),
    request_id  text NOT NULL,
    version     bigint,
    -- True: the sender gave no id, ours is made of the answers within a window; such a source cannot be rebuilt.
    minted      boolean NOT NULL,
    fingerprint bytea NOT NULL,
    receipt_id  uuid NOT NULL REFERENCES receipts DEFERRABLE INITIALLY DEFERRED,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    occurred_at timestamptz,
    -- An event that a person made of another one, for a second opportunity on purpose.
    reissue_of  uuid REFERENCES events
);
CREATE INDEX events_reissued ON events (reissue_of) WHERE reissue_of IS NOT NULL;
CREATE INDEX events_by_time ON events (received_at, event_id);
CREATE INDEX events_of_receipt ON events (receipt_id);
-- The newest of each way in; it holds all that choosing a page reads.
CREATE INDEX events_of_way ON events (source, kind, mode, received_at, event_id);
-- A sender's id that a person has in hand.
CREATE INDEX events_by_request ON events USING hash (request_id);

-- Ids that were acknowledged while the database was away, and turned out to be known events.
CREATE TABLE event_aliases (
    alias    uuid PRIMARY KEY,
    event_id uuid NOT NULL REFERENCES events,
    made_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- For senders that give no id: the last time that the same answers came.  The window slides with each.
CREATE TABLE identity_windows (
    mode         text NOT NULL,
    scope        text NOT NULL,
    content      bytea NOT NULL,
    event_id     uuid NOT NULL,
    last_seen_at timestamptz NOT NULL,
    PRIMARY KEY (mode, scope, content)
);

-- A talk between one of our numbers and one person; `conversation_keys` are the HMACs of the person's ids.
CREATE TABLE conversations (
    conversation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mode            text NOT NULL,
    scope           text NOT NULL,
    -- The HMAC of the key that first named it; needs of this talk begin their reference with it.
    name            text NOT NULL
);
CREATE TABLE conversation_keys (
    mode            text NOT NULL,
    scope           text NOT NULL,
    key             bytea NOT NULL,
    conversation_id bigint NOT NULL REFERENCES conversations,
    PRIMARY KEY (mode, scope, key)
);

-- What becomes one opportunity.
CREATE TABLE needs (
    need_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mode            text NOT NULL,
    scope           text NOT NULL,
    key             text NOT NULL,
    destination     text NOT NULL,
    reference       text NOT NULL CHECK (reference ~ '^[a-z0-9-]{1,56}$'),
    conversation_id bigint REFERENCES conversations,
    -- The first and last of its messages, by the messages' own time; the window of a conversation touches either side.
    first_at        timestamptz NOT NULL,
    last_at         timestamptz NOT NULL,
    -- The need that took a conversation over when this one's opportunity was closed, deleted, or never opened.
    successor       bigint REFERENCES needs,
    UNIQUE (mode, scope, key),
    UNIQUE (mode, destination, reference)
);
CREATE INDEX needs_of_conversation ON needs (conversation_id, last_at) WHERE conversation_id IS NOT NULL;

-- One thing in a CRM account that we want to exist once.  Doubt belongs here: contact and opportunity are shared.
CREATE TABLE records (
    record_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination      text NOT NULL,
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    kind             text NOT NULL CHECK (kind IN ('contact', 'opportunity', 'task', 'note')),
    reference        text NOT NULL CHECK (reference ~ '^[a-z0-9-]{1,64}$'),
    parent_record_id bigint REFERENCES records,
    -- none: nothing asked, or surely absent.  asked: a write is committed; until asked_until it may still be sent, past
    -- it the row is in doubt by time alone.  in_doubt: answered, and doubtful.  known: it has a crm_id.  gone: it had one.
    state            text NOT NULL DEFAULT 'none' CHECK (state IN ('none', 'asked', 'in_doubt', 'known', 'gone')),
    asked_until      timestamptz,
    crm_id           text,
    how              text CHECK (how IN ('answer', 'look', 'adopted', 'settled', 'settled_unverified')),
    write_id         bigint,
    -- True: a create followed a doubt, so two might stand in the CRM; it is looked at again later.
    after_doubt      boolean NOT NULL DEFAULT false,
    -- True: a person says that the write in doubt was not applied; it replaces the strength of a look, not time.
    ruled_absent     boolean NOT NULL DEFAULT false,
    look_at          timestamptz,
    looks            integer NOT NULL DEFAULT 0,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The record made anew in place of one that is gone; whoever names this one means that one.
    replaced_by      bigint REFERENCES records,
    -- Its events went with their identities; it is known still, and nobody asks for them.
    purged_at        timestamptz,
    UNIQUE (destination, mode, kind, reference),
    CONSTRAINT asked_has_an_end CHECK (state NOT IN ('asked', 'in_doubt') OR asked_until IS NOT NULL),
    CONSTRAINT doubt_is_looked_at CHECK (state NOT IN ('asked', 'in_doubt') OR look_at IS NOT NULL),
    CONSTRAINT known_has_an_id CHECK (state NOT IN ('known', 'gone') OR (crm_id IS NOT NULL AND how IS NOT NULL)),
    CONSTRAINT none_has_no_id CHECK (state <> 'none' OR crm_id IS NULL),
    CONSTRAINT replaced_is_gone CHECK (replaced_by IS NULL OR state = 'gone')
);
CREATE INDEX records_to_look_at ON records (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX records_in_doubt ON records (destination, mode) WHERE state IN ('asked', 'in_doubt');
-- An id of the CRM, or a reference or its beginning, that a person has in hand.
CREATE INDEX records_by_crm_id ON records USING hash (crm_id) WHERE crm_id IS NOT NULL;
CREATE INDEX records_by_reference ON records (reference text_pattern_ops);

-- The same, with what depends on the time of reading: may its write still leave, is its look due.
CREATE VIEW records_now AS
    SELECT record_id, destination, mode, kind, reference, parent_record_id, state, asked_until, crm_id, how, write_id,
           after_doubt, ruled_absent, look_at, looks,
           state = 'asked' AND asked_until > clock_timestamp() AS being_asked,
           coalesce(look_at <= clock_timestamp(), false) AS look_due,
           clock_timestamp() - asked_until AS asked_ago
      FROM records;

-- The record that was made anew in place of this one, or itself; NULL for NULL.
CREATE FUNCTION newest_record(named bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    WITH RECURSIVE chain AS (
        SELECT record_id, replaced_by FROM records WHERE record_id = named
        UNION ALL SELECT r.record_id, r.replaced_by FROM records r JOIN chain c ON r.record_id = c.replaced_by)
    SELECT record_id FROM chain WHERE replaced_by IS NULL
$$;

-- The ids of a person (phone variants, e-mail, WhatsApp ids) as HMACs, each bound to one contact record.
CREATE TABLE contact_keys (
    destination text NOT NULL,
    mode        text NOT NULL,
    key         bytea NOT NULL,
    reference   text NOT NULL,
    record_id   bigint NOT NULL REFERENCES records,
    PRIMARY KEY (destination, mode, key)
);
CREATE INDEX contact_keys_of_record ON contact_keys (record_id);
CREATE INDEX contact_keys_by_reference ON contact_keys (reference);

-- One event on its way into its CRM.  The drawing of the states stands in intake/deliveries.py.
CREATE TABLE deliveries (
    event_id           uuid NOT NULL REFERENCES events,
    generation         integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
    need_id            bigint NOT NULL REFERENCES needs,
    -- opener: makes contact, opportunity and task.  version: the same, or updates the opportunity that stands.
    -- follow_up: a note on the opportunity of its need.
    part               text NOT NULL CHECK (part IN ('opener', 'version', 'follow_up')),
    -- The order within the need: the sender's version, else 0 (then by time of receipt).
    position           bigint NOT NULL,
    mode               text NOT NULL CHECK (mode IN ('live', 'test')),
    source             text NOT NULL,
    destination        text NOT NULL,
    received_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    state              text NOT NULL CHECK (state IN ('awaiting_approval', 'received', 'delivering', 'waiting', 'uncertain',
                                                      'review', 'confirmed', 'cancelled', 'superseded')),
    reason             text,
    fields             jsonb NOT NULL DEFAULT '{}',
    due_at             timestamptz,
    claim_token        uuid,
    claimed_until      timestamptz,
    -- The record whose doubt holds this delivery; it moves on when that record is in doubt no longer.
    blocked_on         bigint REFERENCES records,
    contact_record     bigint REFERENCES records,
    opportunity_record bigint REFERENCES records,
    task_record        bigint REFERENCES records,
    -- Where a follow-up's message stands: in a note, of its own or shared, or in the opportunity that it was joined to.
    note_record        bigint REFERENCES records,
    changed_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Who gets an open item of it, by the rule of its source.
    assignee           text,
    -- Which revision of its lead was approved, and until when; approved_until NULL: for good, or none was asked.
    approved_revision  integer,
    approved_until     timestamptz,
    -- True: a person wants the note also on an opportunity that is closed.
    note_anyway        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (event_id, generation),
    CONSTRAINT lease_iff_delivering
        CHECK ((state = 'delivering') = (claim_token IS NOT NULL) AND (claim_token IS NULL) = (claimed_until IS NULL)),
    CONSTRAINT open_states_say_why
        CHECK (state NOT IN ('awaiting_approval', 'waiting', 'uncertain', 'review') OR reason IS NOT NULL),
    CONSTRAINT due_iff_claimable CHECK ((state IN ('received', 'waiting')) = (due_at IS NOT NULL)),
    CONSTRAINT uncertain_names_its_record CHECK (state <> 'uncertain' OR blocked_on IS NOT NULL)
);
-- One delivery of a need at a time: two workers that claim two of them meet here.
-- No index tells when a lease ends, so that to make it longer writes to none.
CREATE UNIQUE INDEX one_delivering_per_need ON deliveries (need_id) WHERE state = 'delivering';
-- Which is what may be claimed (due_iff_claimable).  A claim asks for nothing that another index tells of, too.
CREATE INDEX deliveries_of_lane ON deliveries (destination, source, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_blocked ON deliveries (blocked_on) WHERE blocked_on IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (received_at, event_id)
    WHERE state NOT IN ('confirmed', 'cancelled', 'superseded');
CREATE INDEX deliveries_of_need ON deliveries (need_id, position);
CREATE INDEX deliveries_expiring ON deliveries (approved_until)
    WHERE approved_until IS NOT NULL AND state IN ('received', 'waiting');
-- Those that wait for a fetch.
CREATE INDEX deliveries_fetching ON deliveries (source)
    WHERE state = 'waiting' AND reason IN ('fetch_pending', 'fetch_failed', 'fetch_parked');
-- Which deliveries stand on a record.
CREATE INDEX deliveries_of_contact ON deliveries (contact_record) WHERE contact_record IS NOT NULL;
CREATE INDEX deliveries_of_opportunity ON deliveries (opportunity_record) WHERE opportunity_record IS NOT NULL;
CREATE INDEX deliveries_of_task ON deliveries (task_record) WHERE task_record IS NOT NULL;
CREATE INDEX deliveries_of_note ON deliveries (note_record) WHERE note_record IS NOT NULL;
-- All that is final of one CRM, by the way in that it came.
CREATE INDEX deliveries_of_crm ON deliveries (destination, source, mode, received_at, event_id)
    WHERE state IN ('confirmed', 'cancelled', 'superseded');
-- What ended without arriving.
CREATE INDEX deliveries_ended ON deliveries (state, source) WHERE state IN ('cancelled', 'superseded');

-- What is to be delivered, by CRM and way in, and when the first of each is due.  One look into the index for each lane,
-- however much is due in it.
CREATE VIEW lanes AS
    WITH RECURSIVE lane AS (
        (SELECT destination, source, due_at FROM deliveries
          WHERE due_at IS NOT NULL
          ORDER BY destination, source, due_at LIMIT 1)
        UNION ALL
        SELECT next.destination, next.source, next.due_at
          FROM lane, LATERAL (
               SELECT d.destination, d.source, d.due_at FROM deliveries d
                WHERE d.due_at IS NOT NULL AND (d.destination, d.source) > (lane.destination, lane.source)
                ORDER BY d.destination, d.source, d.due_at LIMIT 1) AS next)
    SELECT destination, source, due_at FROM lane;

-- What an event said may stand in a record that another event of its need makes: in its opportunity, where it came just
-- after the first message, or in the note of an earlier one.  The rows are fixed in the transaction that commits the
-- record's create; while it is in doubt, and once it stands, they do not change.
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

-- Every move of a delivery, also one typed by hand: states and ids, no payload.
CREATE TABLE delivery_history (
    history_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    uuid NOT NULL,
    generation  integer NOT NULL,
    from_state  text,
    to_state    text NOT NULL,
    reason      text,
    claim_token uuid,
    at          timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX history_of_delivery ON delivery_history (event_id, generation, history_id);

-- One request to a CRM about a record.  A write is committed here before its first byte leaves.
CREATE TABLE attempts (
    attempt_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    record_id    bigint NOT NULL REFERENCES records,
    destination  text NOT NULL,
    event_id     uuid,
    generation   integer,
    claim_token  uuid,
    kind         text NOT NULL CHECK (kind IN ('write', 'look')),
    action       text NOT NULL CHECK (action IN ('create', 'update', 'find', 'read', 'match')),
    prepared_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    send_by      timestamptz,
    sent_at      timestamptz,
    answered_at  timestamptz,
    closed_at    timestamptz,
    confirmed_at timestamptz,
    outcome      text,
    reason       text,
    -- Looks: how far an "absent" may be trusted, and whether the same filter found the sentinel just before.
    strength     text CHECK (strength IN ('strong', 'weak')),
    controlled   boolean,
    -- Writes: when the doubt about it ended, and how.  An unsettled write holds its record.
    settled_at   timestamptz,
    settled_how  text CHECK (settled_how IN ('answer', 'look', 'absent', 'enforced', 'person', 'replaced')),
    evidence     jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT outcome_of_its_kind CHECK (
        outcome IS NULL
        OR kind = 'write' AND outcome IN ('not_sent', 'confirmed', 'retry', 'rejected', 'uncertain')
        OR kind = 'look' AND outcome IN ('found', 'absent', 'several', 'unsure')),
    CONSTRAINT writes_say_when CHECK (kind = 'look' OR send_by IS NOT NULL),
    CONSTRAINT settled_says_how CHECK ((settled_at IS NULL) = (settled_how IS NULL)),
    CONSTRAINT sure_outcomes_are_settled CHECK (
        kind = 'look' OR outcome IS NULL OR outcome = 'uncertain' OR settled_at IS NOT NULL)
);
-- At most one unresolved write per record.
CREATE UNIQUE INDEX one_unsettled_write_per_record ON attempts (record_id) WHERE kind = 'write' AND settled_at IS NULL;
CREATE INDEX attempts_of_record ON attempts (record_id, attempt_id);
CREATE INDEX attempts_of_event ON attempts (event_id, attempt_id) WHERE event_id IS NOT NULL;
-- Calls that got no answer: the silences of an account, which no proof of absence may span.
CREATE INDEX attempts_unanswered ON attempts (destination, prepared_at) WHERE answered_at IS NULL;
CREATE INDEX attempts_answered ON attempts (destination, answered_at) WHERE answered_at IS NOT NULL;

-- Payloads: the raw bytes of a receipt (sealed, where it was refused), the Lead of an event (one row a revision), the file
-- that came with it (sealed), what a CRM was sent and answered.  The only table that holds them, so that one place is encrypted, purged and forgotten.
CREATE TABLE bodies (
    body_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what       text NOT NULL CHECK (what IN ('raw', 'sealed', 'lead', 'media', 'request', 'answer', 'values')),
    receipt_id uuid REFERENCES receipts DEFERRABLE INITIALLY DEFERRED,
    event_id   uuid REFERENCES events,
    revision   integer,
    attempt_id bigint REFERENCES attempts,
    record_id  bigint REFERENCES records,
    content    bytea,
    purged_at  timestamptz,
    CONSTRAINT purged_is_empty CHECK ((content IS NULL) = (purged_at IS NOT NULL)),
    CONSTRAINT one_owner CHECK (num_nonnulls(receipt_id, event_id, attempt_id, record_id) = 1),
    CONSTRAINT owner_of_its_kind CHECK (
        CASE what WHEN 'raw' THEN receipt_id IS NOT NULL
                  WHEN 'sealed' THEN receipt_id IS NOT NULL
                  WHEN 'lead' THEN event_id IS NOT NULL AND revision IS NOT NULL
                  WHEN 'media' THEN event_id IS NOT NULL
                  WHEN 'values' THEN num_nonnulls(record_id, attempt_id) = 1
                  ELSE attempt_id IS NOT NULL END)
);
CREATE UNIQUE INDEX one_raw_per_receipt ON bodies (receipt_id) WHERE receipt_id IS NOT NULL;
CREATE UNIQUE INDEX one_lead_per_revision ON bodies (event_id, revision) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX one_media_per_event ON bodies (event_id) WHERE what = 'media';
CREATE UNIQUE INDEX one_body_per_attempt ON bodies (attempt_id, what) WHERE attempt_id IS NOT NULL;
CREATE UNIQUE INDEX one_readback_per_record ON bodies (record_id) WHERE record_id IS NOT NULL;

-- A CRM account: paused as a whole only when a control call failed too.
CREATE TABLE accounts (
    destination   text PRIMARY KEY,
    paused_at     timestamptz,
    paused_reason text,
    control_at    timestamptz,
    CONSTRAINT paused_says_why CHECK ((paused_at IS NULL) = (paused_reason IS NULL)),
    CONSTRAINT paused_is_probed CHECK ((paused_at IS NULL) = (control_at IS NULL))
);

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

-- With which keys contents are sealed (INTAKE_SEAL_KEYS), so that a host that lacks one says so and delivers nothing.
CREATE TABLE payload_keys (
    -- A digest of the key; nothing opens by it.
    key_id  bytea PRIMARY KEY CHECK (length(key_id) = 8),
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Where a CRM shows its records to people, as the client of each account knows it.
CREATE TABLE record_pages (
    destination text PRIMARY KEY,
    -- {"contact": "https://…/{id}", …}, of those kinds that have a page; no credential.
    pages       jsonb NOT NULL
);

-- The record that a look must find before its "absent" counts.
CREATE TABLE sentinels (
    destination text NOT NULL REFERENCES accounts,
    kind        text NOT NULL CHECK (kind IN ('contact', 'opportunity', 'task', 'note')),
    reference   text NOT NULL,
    crm_id      text NOT NULL,
    parent_id   text,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (destination, kind)
);

-- What waits for a person.
CREATE TABLE items (
    item_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text NOT NULL CHECK (kind IN ('delivery', 'conflict', 'quarantine', 'incident')),
    reason     text NOT NULL,
    mode       text NOT NULL,
    source     text,
    event_id   uuid REFERENCES events,
    generation integer,
    receipt_id uuid REFERENCES receipts DEFERRABLE INITIALLY DEFERRED,
    record_id  bigint REFERENCES records,
    fields     jsonb NOT NULL DEFAULT '{}',
    evidence   jsonb NOT NULL DEFAULT '{}',
    assignee   text,
    due_at     timestamptz,
    opened_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_at  timestamptz,
    resolution text,
    -- What an accusation of the reconciliation is about: a row that is no more, or a record that only the CRM has.
    subject    text,
    CONSTRAINT closed_says_how CHECK ((closed_at IS NULL) = (resolution IS NULL)),
    CONSTRAINT item_is_about_something CHECK (num_nonnulls(event_id, receipt_id, record_id, subject) >= 1)
);
CREATE UNIQUE INDEX one_open_item_per_delivery ON items (event_id, generation) WHERE kind = 'delivery' AND closed_at IS NULL;
-- The same other content again, or the same incident again, is not a second item.
CREATE UNIQUE INDEX one_open_conflict ON items (event_id, (evidence ->> 'fingerprint'))
    WHERE kind = 'conflict' AND closed_at IS NULL;
CREATE UNIQUE INDEX one_open_quarantine ON items (mode, source, (evidence ->> 'body'))
    WHERE kind = 'quarantine' AND closed_at IS NULL;
CREATE UNIQUE INDEX one_open_incident ON items (record_id, reason)
    WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NULL;
CREATE UNIQUE INDEX one_open_accusation ON items (subject, reason)
    WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NOT NULL;
CREATE INDEX accusations ON items (subject, reason) WHERE subject IS NOT NULL;
CREATE INDEX items_open ON items (kind, opened_at) WHERE closed_at IS NULL;
-- What waits for a person, longest first.
CREATE INDEX items_waiting ON items (opened_at, item_id) WHERE closed_at IS NULL;
CREATE INDEX items_of_delivery ON items (event_id, generation, item_id) WHERE kind = 'delivery';

-- What an operator settled.  Append-only.
CREATE TABLE decisions (
    decision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    author      text NOT NULL CHECK (author <> ''),
    reason      text NOT NULL CHECK (reason <> ''),
    action      text NOT NULL,
    event_id    uuid REFERENCES events,
    generation  integer,
    item_id     bigint REFERENCES items,
    detail      jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX decisions_of_event ON decisions (event_id, decision_id);
CREATE INDEX decisions_by_time ON decisions (at);

-- An event or an open item was shown to a person.  Ids only; forgotten after some weeks.
CREATE TABLE shown (
    shown_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_id uuid REFERENCES events,
    item_id  bigint REFERENCES items,
    -- NULL: nobody said who looks.
    operator text,
    CONSTRAINT shown_is_something CHECK (num_nonnulls(event_id, item_id) >= 1)
);
CREATE INDEX shown_events ON shown (event_id, shown_at) WHERE event_id IS NOT NULL;
CREATE INDEX shown_items ON shown (item_id, shown_at) WHERE item_id IS NOT NULL;
CREATE INDEX shown_by_time ON shown (shown_at);

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
    -- The content that was seen of the event when the decision was made; null: it had none, or an older run.
    revision integer,
    PRIMARY KEY (bulk_id, event_id),
    CONSTRAINT done_says_what CHECK ((result IS NULL) = (done_at IS NULL))
);
CREATE INDEX bulk_items_left ON bulk_items (bulk_id, event_id) WHERE result IS NULL;

-- Who is alive: clocks and workers say so here.
CREATE TABLE heartbeats (
    process text NOT NULL,
    name    text NOT NULL,
    at      timestamptz NOT NULL,
    -- Which secrets this process misses: whose, and the reference of each, never a value.  NULL: it did not say.
    missing text[],
    PRIMARY KEY (process, name)
);

-- What a reconciliation counted and found.  Append-only, so that the trend can be shown.
CREATE TABLE reconciliations (
    reconciliation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at        timestamptz NOT NULL,
    finished_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    since             timestamptz,
    verified          boolean NOT NULL,
    counts            jsonb NOT NULL,
    incidents         jsonb NOT NULL
);

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

-- How long the receiver took for what it accepted: one row for each bucket, added up by all web processes.
CREATE TABLE accept_times (
    -- Seconds; as much and less, but more than the bucket before.
    most    double precision PRIMARY KEY,
    count   bigint NOT NULL,
    -- Of all of them together.
    seconds double precision NOT NULL
);

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

-- What the contract probe measured of an account.  Deliveries take from it only what makes them more careful.
CREATE TABLE crm_contracts (
    contract_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination text        NOT NULL,
    client      text        NOT NULL,
    measured_at timestamptz NOT NULL,
    measured    jsonb       NOT NULL
);
CREATE INDEX crm_contracts_newest ON crm_contracts (destination, client, measured_at DESC);

-- OAuth grants of CRM accounts.  Tokens are sealed with INTAKE_SEAL_KEYS: a copy of the database opens nothing.
-- Whoever renews one holds the lease; a refresh token that is spent twice kills the grant at several vendors.
CREATE TABLE crm_grants (
    destination   text PRIMARY KEY,
    version       bigint      NOT NULL DEFAULT 1,
    access_token  bytea       NOT NULL,
    refresh_token bytea,
    expires_at    timestamptz,
    connected_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    leased_until  timestamptz,
    lease_token   uuid,
    -- The vendor says that it is no more: a person has to connect the account again.
    lost_at       timestamptz,
    CONSTRAINT lease_is_whole CHECK ((leased_until IS NULL) = (lease_token IS NULL))
);

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

-- The lane of a source in which its fetches run; parked as a whole when its credential works no more.
CREATE TABLE fetch_lanes (
    source        text PRIMARY KEY,
    what          text NOT NULL CHECK (what IN ('lead', 'media')),
    parked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    parked_reason text NOT NULL,
    -- When one of its fetches is tried again, to see whether it works.
    control_at    timestamptz NOT NULL
);

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

-- The desk: who may open it, what they hold open, programs that act for them, and who saw whose data.

-- People who decide.  Their names are the authors of decisions, so a name is never given to another person.
CREATE TABLE operators (
    operator_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    role          text NOT NULL CHECK (role IN ('viewer', 'operator', 'approver', 'admin')),
    password_hash text NOT NULL,
    -- True: somebody else knows the password, who made or reset it; nothing can be done before it is changed.
    must_change   boolean NOT NULL DEFAULT true,
    language      text CHECK (language IN ('es', 'en')),
    made_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    disabled_at   timestamptz
);

-- A browser that is signed in.  Only the hash of what its cookie holds.
CREATE TABLE operator_sessions (
    session_hash bytea PRIMARY KEY,
    operator_id  bigint NOT NULL REFERENCES operators,
    made_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sessions_of_operator ON operator_sessions (operator_id, made_at);

-- Failed logins by the hash of the name that was typed, also where nobody has it: the answer tells nothing of that.
CREATE TABLE login_failures (
    name_hash    bytea PRIMARY KEY,
    failures     integer NOT NULL,
    last_at      timestamptz NOT NULL,
    locked_until timestamptz
);

-- Programs that act for an operator, with at most the operator's rights.  Only the hash of the secret.
CREATE TABLE api_tokens (
    token_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operator_id bigint NOT NULL REFERENCES operators,
    label       text NOT NULL CHECK (label <> ''),
    secret_hash bytea NOT NULL UNIQUE,
    scopes      text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'data', 'act'] AND scopes <> '{}'),
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL,
    used_at     timestamptz,
    revoked_at  timestamptz
);
CREATE INDEX tokens_of_operator ON api_tokens (operator_id);

-- Actions that carried an Idempotency-Key, and what they were answered; status null: still on its way.
CREATE TABLE api_calls (
    token_id     bigint NOT NULL REFERENCES api_tokens,
    key          text NOT NULL,
    request_hash bytea NOT NULL,
    made_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    status       integer,
    answer       jsonb,
    PRIMARY KEY (token_id, key),
    CONSTRAINT answered_says_what CHECK ((status IS NULL) = (answer IS NULL))
);
CREATE INDEX api_calls_by_time ON api_calls (made_at);

-- Who saw personal data, and when (Ley 29733).  Append-only; ids, never the data.
CREATE TABLE access_log (
    access_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    operator  text NOT NULL,
    via       text NOT NULL CHECK (via IN ('console', 'api', 'cli')),
    what      text NOT NULL,
    event_id  uuid,
    detail    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX access_by_time ON access_log (at, access_id);
CREATE INDEX access_of_event ON access_log (event_id) WHERE event_id IS NOT NULL;

-- Records that somebody at the desk wants read from the CRM now.  A worker reads, and says what stands there: ids, and
-- the names of fields that differ from what we read back last, no values.
CREATE TABLE crm_reads (
    read_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('contact', 'opportunity', 'task', 'note')),
    crm_id      text NOT NULL,
    record_id   bigint REFERENCES records,
    asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When another worker may take it; null: it is answered.
    due_at      timestamptz DEFAULT clock_timestamp(),
    answered_at timestamptz,
    -- live: it stands.  dead: in the trash, or merged.  absent: not there, and the sentinel is.  unsure: why.
    outcome     text CHECK (outcome IN ('live', 'dead', 'absent', 'unsure')),
    reason      text,
    reference   text,
    owner       text,
    closed      boolean,
    changed     text[],
    CONSTRAINT due_until_answered CHECK ((due_at IS NULL) = (answered_at IS NOT NULL)),
    CONSTRAINT answered_says_what CHECK ((answered_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX crm_reads_due ON crm_reads (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX crm_reads_of_record ON crm_reads (destination, kind, crm_id, read_id);

-- What was confirmed today.
CREATE INDEX deliveries_confirmed ON deliveries (changed_at, event_id) WHERE state = 'confirmed';

-- Every arrow of the state machine.  An UPDATE that is none of these fails, whoever typed it.
CREATE FUNCTION is_arrow(from_state text, to_state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (from_state, to_state) IN (
        ('awaiting_approval', 'received'),    -- approved
        ('awaiting_approval', 'cancelled'),   -- declined, cancelled
        ('awaiting_approval', 'superseded'),  -- a newer version waits for its own approval
        ('received', 'awaiting_approval'),    -- corrected: the new content needs its own approval
        ('received', 'delivering'),           -- claimed
        ('received', 'review'),               -- the opener was refused, or is gone
        ('received', 'cancelled'),
        ('received', 'superseded'),
        ('delivering', 'received'),           -- given back, nothing in doubt
        ('delivering', 'waiting'),            -- due later, or another's doubt
        ('delivering', 'uncertain'),          -- its own doubt
        ('delivering', 'review'),             -- a person must act
        ('delivering', 'confirmed'),
        ('delivering', 'superseded'),
        ('waiting', 'awaiting_approval'),
        ('waiting', 'delivering'),
        ('waiting', 'review'),
        ('waiting', 'cancelled'),
        ('waiting', 'superseded'),
        ('uncertain', 'waiting'),             -- found, or surely absent: goes on where it stood
        ('uncertain', 'confirmed'),
        ('uncertain', 'review'),              -- several, or looks used up
        ('uncertain', 'cancelled'),
        ('review', 'awaiting_approval'),
        ('review', 'received'),               -- corrected, revived, settled applied
        ('review', 'uncertain'),              -- settled not applied: time and a look still apply
        ('review', 'confirmed'),
        ('review', 'cancelled'),
        ('review', 'superseded'))
$$;

CREATE FUNCTION note_delivery_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.state = OLD.state THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND NOT is_arrow(OLD.state, NEW.state) THEN
        RAISE EXCEPTION 'no arrow leads from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation';
    END IF;
    NEW.changed_at := clock_timestamp();
    INSERT INTO delivery_history (event_id, generation, from_state, to_state, reason, claim_token)
    VALUES (NEW.event_id, NEW.generation, CASE WHEN TG_OP = 'UPDATE' THEN OLD.state END, NEW.state, NEW.reason,
            coalesce(NEW.claim_token, CASE WHEN TG_OP = 'UPDATE' THEN OLD.claim_token END));
    RETURN NEW;
END
$$;
CREATE TRIGGER history BEFORE INSERT OR UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION note_delivery_move();

-- A delivery that waits for a person has exactly one open item; it closes when the delivery moves on.  It is whoever's
-- had the last one of this delivery, else by the rule of the source.
CREATE FUNCTION keep_item_of_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER item AFTER INSERT OR UPDATE OF state, reason ON deliveries
    FOR EACH ROW EXECUTE FUNCTION keep_item_of_delivery();

-- A record that has an id in the CRM keeps it, and is never created again under the same reference.
CREATE FUNCTION keep_crm_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.crm_id IS NOT NULL AND NEW.crm_id IS DISTINCT FROM OLD.crm_id THEN
        RAISE EXCEPTION 'record % stands in the CRM and keeps its id', OLD.record_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_crm_id BEFORE UPDATE OF crm_id ON records FOR EACH ROW EXECUTE FUNCTION keep_crm_id();

CREATE FUNCTION refuse_second_create() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM records WHERE record_id = NEW.record_id AND crm_id IS NOT NULL) THEN
        RAISE EXCEPTION 'record % stands in the CRM already', NEW.record_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER refuse_second_create BEFORE INSERT ON attempts
    FOR EACH ROW WHEN (NEW.action = 'create') EXECUTE FUNCTION refuse_second_create();

-- Whether who asks owns this table.
CREATE FUNCTION owns(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = relation), 'MEMBER')
$$;

-- Whether the owner removes what the law or an age limit wants removed: in a transaction that says
-- SET LOCAL intake.purge = 'on'.  Another role may say it, and it changes nothing.
CREATE FUNCTION is_purge(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('intake.purge', true), '') = 'on' AND owns(relation)
$$;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_purge(TG_RELID) THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON delivery_history FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON reconciliations FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON access_log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Rows that move on and never go.
CREATE TRIGGER stays BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON records FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON forgotten FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- What was refused at the door was never acknowledged, and goes after a week; what was read back is kept once.
CREATE TRIGGER stays BEFORE DELETE ON receipts
    FOR EACH ROW WHEN (OLD.verdict <> 'refused') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON bodies
    FOR EACH ROW WHEN (OLD.what NOT IN ('sealed', 'values')) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accepted_for_good BEFORE UPDATE OF verdict ON receipts
    FOR EACH ROW WHEN (NEW.verdict = 'refused' AND OLD.verdict <> 'refused') EXECUTE FUNCTION refuse_change();

-- An attempt that is closed says what it said; how the doubt about it ended is added once.
CREATE FUNCTION keep_closed_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_purge(TG_RELID) THEN
        RETURN NEW;
    END IF;
    IF to_jsonb(NEW) - '{settled_at,settled_how,confirmed_at}'::text[]
       IS DISTINCT FROM to_jsonb(OLD) - '{settled_at,settled_how,confirmed_at}'::text[]
       OR OLD.settled_at IS NOT NULL
          AND (NEW.settled_at, NEW.settled_how) IS DISTINCT FROM (OLD.settled_at, OLD.settled_how) THEN
        RAISE EXCEPTION 'attempt % is closed', OLD.attempt_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER closed_for_good BEFORE UPDATE ON attempts
    FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION keep_closed_attempt();

-- Payloads are written once; only what a CRM shows now is written over.  The owner may empty them.
CREATE FUNCTION keep_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF owns(TG_RELID) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a body is written once' USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER written_once BEFORE UPDATE ON bodies
    FOR EACH ROW WHEN (OLD.what <> 'values' OR NEW.what <> 'values') EXECUTE FUNCTION keep_content();

-- Each of their rows is written several times within seconds, and never again.  By PostgreSQL's own measure, a fifth of the
-- table, a claim would pass the entries of weeks, and plans would rest on what stood there long ago.
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE records SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE attempts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

INSERT INTO installation (identity_key) VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
