"""A small CRM of our own, for tests, demonstrations and customers' trials: a server, its dials, and the client for it.

The server (`python -m crm_clients.sandbox`) is a process of its own with storage of its own and shares no code with
the pipeline, so that its ledger can be the oracle of what the pipeline did.
"""
