-- In a transaction of its own: for a moment it locks out readers.
-- `deliveries_of_lane` serves what this one served.
DROP INDEX deliveries_by_due;
