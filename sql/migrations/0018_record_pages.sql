-- Where a CRM shows its records to people, as the client of each account knows it.
CREATE TABLE record_pages (
    destination text PRIMARY KEY,
    -- {"contact": "https://…/{id}", …}, of those kinds that have a page; no credential.
    pages       jsonb NOT NULL
);
