-- What is due, in order.  The index before it stood on the states, as others do that hold more: a claim was planned by one
-- of those, and sorted all that is due.  Nothing else in the table tells when a delivery is due.
CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at IS NOT NULL;

-- Each of their rows is written several times within seconds, and never again.  By PostgreSQL's own measure, a fifth of the
-- table, a claim would pass the entries of weeks, and plans would rest on what stood there long ago.
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE records SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE attempts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
