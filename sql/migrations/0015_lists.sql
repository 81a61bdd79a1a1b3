-- The lists of the desk and of the API find what is asked for among millions of events.

-- The newest of each way in; it holds all that choosing a page reads.
CREATE INDEX events_of_way ON events (source, kind, mode, received_at, event_id);
-- A sender's id that a person has in hand.
CREATE INDEX events_by_request ON events USING hash (request_id);
-- What ended without arriving.
CREATE INDEX deliveries_ended ON deliveries (state, source) WHERE state IN ('cancelled', 'superseded');
-- What waits for a person, longest first.
CREATE INDEX items_waiting ON items (opened_at, item_id) WHERE closed_at IS NULL;
-- An id of the CRM, or a reference, that a person has in hand.
CREATE INDEX records_by_crm_id ON records USING hash (crm_id) WHERE crm_id IS NOT NULL;
CREATE INDEX records_by_reference ON records USING hash (reference);
