"""Peru's document numbers.  A number that cannot be right is a flag on the lead, never a reason to refuse it."""

from __future__ import annotations

import re
import unicodedata

from stdnum.pe import cui, ruc

# People write what it is before it: `RUC: 20100070970`.
NAMED = re.compile(r"^(?:RUC|DNI|CE)(?:N|NO|NRO)?(?=[0-9])")
INVALID = "document_invalid"


def flag(document: str, region: str) -> str | None:
    """INVALID if this cannot be a Peruvian document, None if it may be one (or belongs to another country).

    RUC: 11 digits with a check digit.  DNI: 8 digits, or 9 characters with the check digit that the card shows.  A
    foreign resident's card has 9 or 12 digits and no check; passports have letters: both may be right.
    """
    if region.upper() != "PE":
        return None
    compact = re.sub(r"[^A-Z0-9]", "", unicodedata.normalize("NFKC", document).upper())
    return None if _plausible(NAMED.sub("", compact)) else INVALID


def is_ruc(digits: str) -> bool:
    """True for what is surely a taxpayer's number, and so no phone: 11 digits from 10 or 20 on, with their check."""
    return re.fullmatch(r"[12]0[0-9]{9}", digits) is not None and bool(ruc.is_valid(digits))


def _plausible(compact: str) -> bool:
    if re.fullmatch(r"[0-9]{11}", compact):
        return bool(ruc.is_valid(compact))
    if re.fullmatch(r"[0-9]{8}[A-Z]", compact):
        return bool(cui.is_valid(compact))
    if re.fullmatch(r"[0-9]{8}|[0-9]{9}|[0-9]{12}", compact):
        return True
    return re.fullmatch(r"(?=.*[A-Z])(?=.*[0-9])[A-Z0-9]{6,12}", compact) is not None
