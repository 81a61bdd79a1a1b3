"""Erasing people: found by keyed hashes, erased wherever payloads stand, and once more after a restore.

people  ─>  finding  ─>  open things settled  ─>  ledger (table and file)  ─>  erasing, spooled  ─>  certificates

Every payload is read once for a whole list of people; what follows is done for each of them.
"""
