-- What the contract probe measured of an account.  Deliveries take from it only what makes them more careful.

CREATE TABLE crm_contracts (
    contract_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination text        NOT NULL,
    client      text        NOT NULL,
    measured_at timestamptz NOT NULL,
    measured    jsonb       NOT NULL
);
CREATE INDEX crm_contracts_newest ON crm_contracts (destination, client, measured_at DESC);
