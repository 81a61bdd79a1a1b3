-- What operators are told: which record counts where one was made anew, and what the running processes lack.

-- The record that was made anew in place of this one, or itself; NULL for NULL.
CREATE FUNCTION newest_record(named bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    WITH RECURSIVE chain AS (
        SELECT record_id, replaced_by FROM records WHERE record_id = named
        UNION ALL SELECT r.record_id, r.replaced_by FROM records r JOIN chain c ON r.record_id = c.replaced_by)
    SELECT record_id FROM chain WHERE replaced_by IS NULL
$$;

-- Which secrets this process misses: whose, and the reference of each, never a value.  NULL: it did not say.
ALTER TABLE heartbeats ADD COLUMN missing text[];
