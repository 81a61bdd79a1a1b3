-- What is due, in order.  The index before it stood on the states, as others do that hold more: a claim was planned by one
-- of those, and sorted all that is due.  Nothing else in the table tells when a delivery is due.
CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
