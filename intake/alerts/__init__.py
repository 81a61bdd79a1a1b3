"""Who is told what needs a person.

    conditions (SQL: what holds now) ──> changes (began, grew, ended) ──> outbox ──> workers.watch sends, until taken

Only what stands in `content.py` leaves: names of conditions, of sources and accounts, references, counts, times, links.
"""
