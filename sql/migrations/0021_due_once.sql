-- In a transaction of its own: for a moment it locks out readers.
-- `deliveries_by_due` serves what this one served.
DROP INDEX deliveries_due;
-- What is being delivered is little, and found by `one_delivering_per_need`.  A lease is made longer before each call: as no
-- index tells its end, that writes to no index.
DROP INDEX deliveries_leased;
