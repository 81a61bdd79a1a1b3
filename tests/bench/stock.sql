-- A database with %(stored)s events that were delivered long ago, but the newest %(pending)s, which are due.
SET session_replication_role = replica;

INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, verdict, counts)
SELECT md5('r' || n)::uuid, clock_timestamp() - (%(stored)s - n) * interval '1 second' - interval '1 day', 'live', 'web',
       'application/json', 'accepted', '{"events": 1, "new": 1, "updates": 0, "quarantined": 0, "ignored": 0}'
  FROM generate_series(1, %(stored)s) AS n;

INSERT INTO events (event_id, mode, source, scope, kind, request_id, minted, fingerprint, receipt_id, received_at)
SELECT md5('e' || n)::uuid, 'live', 'web', 'web', 'form', 'msg_stock_' || n, false, sha256(n::text::bytea),
       md5('r' || n)::uuid, clock_timestamp() - (%(stored)s - n) * interval '1 second' - interval '1 day'
  FROM generate_series(1, %(stored)s) AS n;

INSERT INTO bodies (what, event_id, revision, content)
SELECT 'lead', md5('e' || n)::uuid, 1, convert_to(
       '{"answers":[],"as_of":null,"attribution":{"ad_headline":null,"ad_id":null,"click_id":null,"utm":[]},"consent":null,'
       || '"contact":{"bsuid":null,"company":null,"document":null,"email":"stock' || n || '@example.com","name":"Ana Prueba",'
       || '"phone":{"e164":"+519' || lpad(n::text, 8, '0') || '","raw":"9' || lpad(n::text, 8, '0')
       || '","reason":"ok","variants":[],"verdict":"ok"},"username":null,"wa_id":null},'
       || '"enquiry":{"amount":null,"currency":null,"items":[],"media":[],"product":null,"text":"Diez sillas"},'
       || '"flags":[],"occurred_at":null}', 'UTF8')
  FROM generate_series(1, %(stored)s) AS n;

INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)
SELECT 'live', 'web', 'event:' || md5('e' || n)::uuid, 'crm', 'n' || md5('n' || n), clock_timestamp(), clock_timestamp()
  FROM generate_series(1, %(stored)s) AS n;

INSERT INTO records (destination, mode, kind, reference, state, crm_id, how)
SELECT 'crm', 'live', kind, 'n' || md5('n' || n) || '-' || left(kind, 1), 'known', kind || n, 'answer'
  FROM generate_series(1, %(stored)s) AS n, (VALUES ('contact'), ('opportunity'), ('task')) AS k (kind);

INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, received_at, state, due_at,
                        contact_record, opportunity_record, task_record, changed_at)
SELECT md5('e' || n)::uuid, n, 'opener', 0, 'live', 'web', 'crm',
       clock_timestamp() - (%(stored)s - n) * interval '1 second' - interval '1 day',
       CASE WHEN n <= %(stored)s - %(pending)s THEN 'confirmed' ELSE 'received' END,
       CASE WHEN n > %(stored)s - %(pending)s THEN clock_timestamp() END,
       3 * n - 2, 3 * n - 1, 3 * n, clock_timestamp() - (%(stored)s - n) * interval '1 second' - interval '1 day'
  FROM generate_series(1, %(stored)s) AS n;

INSERT INTO delivery_history (event_id, generation, to_state)
SELECT md5('e' || n)::uuid, 1, 'received' FROM generate_series(1, %(stored)s) AS n;

INSERT INTO attempts (record_id, destination, event_id, generation, kind, action, send_by, sent_at, answered_at,
                      closed_at, confirmed_at, outcome, settled_at, settled_how)
SELECT 3 * n - 1, 'crm', md5('e' || n)::uuid, 1, 'write', 'create', at, at, at, at, at, 'confirmed', at, 'answer'
  FROM (SELECT n, clock_timestamp() - (%(stored)s - n) * interval '1 second' - interval '1 day' AS at
          FROM generate_series(1, %(stored)s) AS n) AS each;

SET session_replication_role = origin;
