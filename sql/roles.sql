-- What each process may do in the database.  `intake migrate --roles` runs this, and each later migration again.
--
--   owner           migrates, restores, purges; nothing else connects as it
--   intake_desk     the console, the API, commands: decides                  is a worker, too
--   intake_worker   workers and the clock: asks the CRM, and moves leads on  is a door, too (it fetches and pulls)
--   intake_door     web processes: accepts
--
-- They cannot log in; who does is made a member: GRANT intake_door TO web_of_ours.
-- Whatever is not granted here is refused: to nobody the removal or the change of a decision, of history or of an event.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY '{intake_door,intake_worker,intake_desk}'::text[] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END
$$;
GRANT intake_door TO intake_worker;
GRANT intake_worker TO intake_desk;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM intake_door, intake_worker, intake_desk;
GRANT USAGE ON SCHEMA public TO intake_door;

-- --- the door ------------------------------------------------------------------------------------------------------

GRANT SELECT ON ALL TABLES IN SCHEMA public TO intake_door;
-- Who people are at the desk is the desk's alone.
REVOKE SELECT ON operators, operator_sessions, login_failures, api_tokens, api_calls, access_log FROM intake_door;
-- Tokens of CRM accounts are no matter of the door, sealed as they are.
REVOKE SELECT ON crm_grants FROM intake_door;

GRANT INSERT ON receipts, bodies, events, event_aliases, identity_windows, conversations, conversation_keys, needs,
                deliveries, items, delivery_history, fetches, refusals, accept_times, heartbeats, payload_keys TO intake_door;
GRANT UPDATE ON identity_windows, conversation_keys, needs, deliveries, items, fetches, refusals, accept_times,
                heartbeats TO intake_door;
GRANT UPDATE (verdict, counts) ON receipts TO intake_door;
-- What was refused at the door, and no other: a trigger refuses it.
GRANT DELETE ON receipts, bodies TO intake_door;

-- --- workers and the clock -----------------------------------------------------------------------------------------

GRANT INSERT, UPDATE ON records, contact_keys, accounts, sentinels, carried, fetch_lanes, pulls, rounds, daily,
                        conditions, outbox, reconciliation_runs, crm_reads, crm_grants, account_facts,
                        record_pages
    TO intake_worker;
GRANT SELECT ON crm_grants TO intake_worker;
GRANT INSERT ON attempts, reconciliations, decisions, crm_contracts TO intake_worker;
GRANT UPDATE (outcome, reason, evidence, closed_at, sent_at, answered_at, confirmed_at, settled_at, settled_how)
    ON attempts TO intake_worker;
GRANT UPDATE (content, purged_at) ON bodies TO intake_worker;
GRANT UPDATE ON bulk_items TO intake_worker;
GRANT INSERT, DELETE ON blocked_keys TO intake_worker;
GRANT DELETE ON carried, fetch_lanes, heartbeats, refusals, outbox, shown, crm_reads TO intake_worker;

-- --- the desk ------------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT ON access_log TO intake_desk;
GRANT INSERT ON shown TO intake_desk;
GRANT SELECT, INSERT, UPDATE, DELETE ON operators, operator_sessions, login_failures, api_tokens, api_calls
    TO intake_desk;
GRANT INSERT, UPDATE ON bulk_runs, bulk_items TO intake_desk;
GRANT INSERT, UPDATE, DELETE ON paused_sources TO intake_desk;
