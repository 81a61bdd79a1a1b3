-- What is due, by CRM and way in, in order: a claim goes from lane to lane, so that a flood in one of them does not hold up
-- the others.  No other index tells when a delivery is due, once the next migration has run.
CREATE INDEX deliveries_of_lane ON deliveries (destination, source, due_at) WHERE due_at IS NOT NULL;

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
