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
