"""Erasing a person: found by keyed hashes, erased wherever payloads stand, and once more after a restore.

person  ─>  finding  ─>  open things settled  ─>  ledger (table and file)  ─>  erasing, spooled  ─>  certificate
"""
