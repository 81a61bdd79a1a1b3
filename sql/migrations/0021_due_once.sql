-- `deliveries_by_due` serves what this one served.  In a transaction of its own: it locks out readers, for a moment.
DROP INDEX deliveries_due;
