-- How long the receiver took for what it accepted: one row for each bucket, added up by all web processes.
CREATE TABLE accept_times (
    -- Seconds; as much and less, but more than the bucket before.
    most    double precision PRIMARY KEY,
    count   bigint NOT NULL,
    -- Of all of them together.
    seconds double precision NOT NULL
);
