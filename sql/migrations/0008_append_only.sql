-- Nobody takes anything away: what must stay is refused by the database itself, whoever types.  And who had what on the
-- screen, so that the time that people spend can be told.

-- An event or an open item was shown to a person.  Ids only; forgotten after some weeks.
CREATE TABLE shown (
    shown_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_id uuid REFERENCES events,
    item_id  bigint REFERENCES items,
    -- NULL: nobody said who looks.
    operator text,
    CONSTRAINT shown_is_something CHECK (num_nonnulls(event_id, item_id) >= 1)
);
CREATE INDEX shown_events ON shown (event_id, shown_at) WHERE event_id IS NOT NULL;
CREATE INDEX shown_items ON shown (item_id, shown_at) WHERE item_id IS NOT NULL;
CREATE INDEX shown_by_time ON shown (shown_at);
CREATE INDEX decisions_by_time ON decisions (at);

-- Whether who asks owns this table.
CREATE FUNCTION owns(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = relation), 'MEMBER')
$$;

-- Whether the owner removes what the law or an age limit wants removed: in a transaction that says
-- SET LOCAL intake.purge = 'on'.  Another role may say it, and it changes nothing.
CREATE FUNCTION is_purge(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('intake.purge', true), '') = 'on' AND owns(relation)
$$;

CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_purge(TG_RELID) THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;

-- Rows that move on and never go.
CREATE TRIGGER stays BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON records FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- What was refused at the door was never acknowledged, and goes after a week; what was read back is kept once.
CREATE TRIGGER stays BEFORE DELETE ON receipts
    FOR EACH ROW WHEN (OLD.verdict <> 'refused') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE DELETE ON bodies
    FOR EACH ROW WHEN (OLD.what NOT IN ('sealed', 'values')) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accepted_for_good BEFORE UPDATE OF verdict ON receipts
    FOR EACH ROW WHEN (NEW.verdict = 'refused' AND OLD.verdict <> 'refused') EXECUTE FUNCTION refuse_change();

-- An attempt that is closed says what it said; how the doubt about it ended is added once.
CREATE FUNCTION keep_closed_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_purge(TG_RELID) THEN
        RETURN NEW;
    END IF;
    IF to_jsonb(NEW) - '{settled_at,settled_how,confirmed_at}'::text[]
       IS DISTINCT FROM to_jsonb(OLD) - '{settled_at,settled_how,confirmed_at}'::text[]
       OR OLD.settled_at IS NOT NULL
          AND (NEW.settled_at, NEW.settled_how) IS DISTINCT FROM (OLD.settled_at, OLD.settled_how) THEN
        RAISE EXCEPTION 'attempt % is closed', OLD.attempt_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER closed_for_good BEFORE UPDATE ON attempts
    FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION keep_closed_attempt();

-- Payloads are written once; only what a CRM shows now is written over.  The owner may empty them.
CREATE FUNCTION keep_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF owns(TG_RELID) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a body is written once' USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER written_once BEFORE UPDATE ON bodies
    FOR EACH ROW WHEN (OLD.what <> 'values' OR NEW.what <> 'values') EXECUTE FUNCTION keep_content();
