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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON access_log FOR EACH ROW EXECUTE FUNCTION refuse_change();

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
