-- With which keys contents are sealed (INTAKE_SEAL_KEYS), so that a host that lacks one says so and delivers nothing.
CREATE TABLE payload_keys (
    -- A digest of the key; nothing opens by it.
    key_id  bytea PRIMARY KEY CHECK (length(key_id) = 8),
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
