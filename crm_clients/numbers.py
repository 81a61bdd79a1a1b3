"""Telephone numbers as CRMs may have them: none says how its people typed them."""

from __future__ import annotations

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat


def national(e164: str) -> str:
    """The digits without those of the country: "+51987654321" is "987654321"; all digits where none is known."""
    try:
        read = phonenumbers.parse(e164)
    except NumberParseException:
        return "".join(filter(str.isdigit, e164))
    return phonenumbers.national_significant_number(read)


def variants(e164: str) -> tuple[str, ...]:
    """The ways in which the number is most often typed, its own form first and the likelier before the others."""
    try:
        read = phonenumbers.parse(e164)
    except NumberParseException:
        return (e164,)
    forms = (PhoneNumberFormat.NATIONAL, PhoneNumberFormat.INTERNATIONAL)
    typed = (phonenumbers.format_number(read, form) for form in forms)
    return tuple(dict.fromkeys((e164, national(e164), *typed, e164.lstrip("+"))))
