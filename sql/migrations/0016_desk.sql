-- What the desk asks for among millions of events, and had no index.

-- All events of one CRM: those that are final, by the way in that they came, the newest last.
CREATE INDEX deliveries_of_crm ON deliveries (destination, source, mode, received_at, event_id)
    WHERE state IN ('confirmed', 'cancelled', 'superseded');
-- A reference, or its beginning, that a person has in hand.
DROP INDEX records_by_reference;
CREATE INDEX records_by_reference ON records (reference text_pattern_ops);
