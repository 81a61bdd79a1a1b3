"""Phones as people, spreadsheets and WhatsApp write them.

The golden table also keeps what we say the same when the numbering data of the library changes: a new release that
reads one of these otherwise is a change of behaviour, and somebody has to want it.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake import phones
from intake.lead import Phone

ANA = "+51912345678"

GOLDEN = [
    # as typed in Peru
    ("912 345 678", "PE", ANA, "ok", "ok"),
    ("912-345-678", "PE", ANA, "ok", "ok"),
    ("912.345.678", "PE", ANA, "ok", "ok"),
    ("(51) 912345678", "PE", ANA, "ok", "ok"),
    ("51912345678", "PE", ANA, "ok", "ok"),
    ("0051 912345678", "PE", ANA, "ok", "ok"),
    ("+51 (0) 912 345 678", "PE", ANA, "ok", "ok"),
    ("912345678 anexo 7", "PE", ANA, "ok", "ok"),
    ("tel:+51912345678", "PE", ANA, "ok", "ok"),
    ("whatsapp:+51912345678", "PE", ANA, "ok", "ok"),
    ("９１２３４５６７８", "PE", ANA, "ok", "ok"),  # noqa: RUF001  full-width digits are the case
    ("\u202a+51\u00a0912\u00a0345\u00a0678\u202c", "PE", ANA, "ok", "ok"),
    ("'912345678", "PE", ANA, "ok", "ok"),
    ("(01) 567-8901", "PE", "+5115678901", "ok", "ok"),
    ("912345678", "pe", ANA, "ok", "ok"),
    # spoiled in a known way
    ("051912345678", "PE", ANA, "repaired", "repair"),
    ("+51+51912345678", "PE", ANA, "repaired", "repair"),
    ("+5151912345678", "PE", ANA, "repaired", "repair"),
    ("912345678 / 987654321", "PE", ANA, "repaired", "repair"),
    ("912345678 o 987654321", "PE", ANA, "repaired", "repair"),
    ("mi cel es 912345678, gracias", "PE", ANA, "repaired", "repair"),
    ("51912345678.0", "PE", ANA, "repaired", "repair"),
    ("5.1912345678E10", "PE", ANA, "repaired", "repair"),
    ("5,1912345678E+10", "PE", ANA, "repaired", "repair"),
    ("5491112345678", "PE", "+5491112345678", "repaired", "repair"),
    # cannot be known
    ("+1 912345678", "PE", None, "flagged", "invalid"),
    ("612345678", "PE", None, "flagged", "invalid"),
    ("5678901", "PE", None, "flagged", "invalid"),
    ("91234567", "PE", None, "flagged", "invalid"),
    ("9123456780", "PE", None, "flagged", "too long"),
    ("+519123456780", "PE", None, "flagged", "too long"),
    ("5.1912E+10", "PE", None, "flagged", "invalid"),
    ("91234567.0", "PE", None, "flagged", "invalid"),
    ("912345 ABC", "PE", None, "flagged", "invalid"),
    ("912345678", None, None, "flagged", "region needed"),
    ("912345678", "ZZ", None, "flagged", "region needed"),
    # as WhatsApp writes them
    ("51912345678", None, ANA, "ok", "ok"),
    ("554199887766", None, "+554199887766", "flagged", "keep"),
    ("5541999887766", None, "+5541999887766", "ok", "ok"),
    ("554133445566", None, "+554133445566", "ok", "ok"),
    ("5215598765432", None, "+5215598765432", "flagged", "keep"),
    ("5491123456789", None, "+5491123456789", "ok", "ok"),
    ("541148765432", None, "+541148765432", "ok", "ok"),
    # other things
    ("", "PE", None, "not_a_phone", "empty"),
    ("\u200b ", "PE", None, "not_a_phone", "empty"),
    ("rosa@example.com", "PE", None, "not_a_phone", "text"),
    ("no tengo", "PE", None, "not_a_phone", "text"),
    ("PE.912345678", "PE", None, "not_a_phone", "bsuid"),
    ("US.ENT.a1b2", None, None, "not_a_phone", "bsuid"),
    ("whatsapp:US.51912345678", "PE", None, "not_a_phone", "bsuid"),
    ("912345678@lid", "PE", None, "not_a_phone", "lid"),
    ("51912345678@c.us", "PE", None, "not_a_phone", "jid"),
    ("51912345678@s.whatsapp.net", "PE", None, "not_a_phone", "jid"),
]


@pytest.mark.parametrize(("raw", "region", "e164", "verdict", "reason"), GOLDEN)
def test_reading_stays_the_same(raw: str, region: str | None, e164: str | None, verdict: str, reason: str) -> None:
    read = phones.read(raw, region)
    assert (read.raw, read.e164, read.verdict, read.reason) == (raw, e164, verdict, reason)


@pytest.mark.parametrize(
    ("raw", "variants"),
    [
        ("+554199887766", ("+5541999887766",)),
        ("+5541999887766", ("+554199887766",)),
        ("+554133445566", ()),  # a land line gets no nine
        ("+5215598765432", ("+525598765432",)),
        ("+525598765432", ("+5215598765432",)),
        ("+5491123456789", ("+541123456789",)),
        ("+541148765432", ()),  # a land line is made no mobile
        ("+51912345678", ()),
    ],
)
def test_variants_are_the_other_numbers_of_one_person(raw: str, variants: tuple[str, ...]) -> None:
    assert phones.read(raw, None).variants == variants


PIECES = st.sampled_from(
    ["+", "51", "912345678", "0", "@lid", "US.", "E10", ".0", " / ", "ext 1", "x", "\u202a", "tel:", "५"]
)
REGIONS = st.one_of(st.none(), st.sampled_from(["PE", "BR", "MX", "AR", "US", "", "zz"]), st.text(max_size=3))


@settings(deadline=None)
@given(raw=st.one_of(st.text(), st.lists(PIECES).map("".join)), region=REGIONS)
def test_no_text_and_no_region_raises(raw: str, region: str | None) -> None:
    assert isinstance(phones.read(raw, region), Phone)


@settings(deadline=None)
@given(raw=st.from_regex(phones.BSUID, fullmatch=True), region=REGIONS)
def test_business_scoped_id_is_never_read_as_a_phone(raw: str, region: str | None) -> None:
    assert phones.read(raw, region).reason == "bsuid"


@settings(deadline=None)
@given(raw=st.lists(PIECES).map("".join))
def test_a_number_that_we_read_reads_as_itself(raw: str) -> None:
    first = phones.read(raw, "PE")
    assert first.e164 is None or phones.read(first.e164, None).e164 == first.e164
