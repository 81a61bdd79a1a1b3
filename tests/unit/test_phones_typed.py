"""Two hundred ways to type a phone, by what each must give.

The verdict is by rule and not by taste: what the library reads as it stands is ok; what had to be cut, joined or
unwrapped is repaired; what could be several numbers, or another country's, is flagged.
"""

from __future__ import annotations

import pytest

from intake.phones import read

MOBILE, LIMA, CUSCO = "+51987654321", "+5114567890", "+5184234567"

AS_IT_STANDS = {
    MOBILE: """
        987654321|987 654 321|987-654-321|(987) 654-321|9 8765 4321|98 76 54 321|987.654.321|9 87 65 43 21
        +51987654321|+51 987 654 321|+51-987-654-321|+51.987.654.321|(+51) 987654321|(51) 987654321|51 987 654 321
        51-987654321|0051 987 654 321|00 51 987654321|00-51-987654321|0987654321|0 987 654 321|+51 (0) 987654321
        +51 0987654321|9⃣8⃣7⃣654321|'987654321|`987654321
        tel:987654321|TEL: +51 987 654 321|whatsapp:+51987654321|callto:987654321|sms:+51987654321|987654321 ext 12
        987654321 x12|987654321 anexo 12|987654321, ext. 5|tel:+51987654321;ext=5|[987654321]|<987654321>|987654321.
        987654321;|#987654321|++51987654321|+ 51 987654321|(((987654321)))|😀 987654321|51 9 8 7 6 5 4 3 2 1
        """,
    LIMA: """
        01 4567890|014567890|(01) 456-7890|01-456-7890|01 456 78 90|+51 1 4567890|+5114567890|+51 01 4567890
        +51 (01) 456-7890|+51 (1) 456-7890|0051 1 4567890|51 1 4567890|5114567890|1 4567890|14567890|+511 456 7890
        01 4567890 anexo 123|01 4567890 ext. 5|01-4567890 int 12|01 4567890 x 5|51 01 4567890|0051-1-4567890
        """,
    CUSCO: "084 234567|084-234567|(084) 23-4567|+51 84 234567|84 234567|0051 84 234567|(084)234567|+51 084 234567",
    "+5511987654321": "+55 11 98765-4321|0055 11 98765 4321",
    "+554133334444": "+55 41 3333-4444",
    "+525512345678": "+52 55 1234 5678",
    "+5491123456789": "+54 9 11 2345-6789|+54 11 15 2345-6789|+54 (11) 15-2345-6789",
    "+541123456789": "+54 11 2345-6789",
    "+56987654321": "+56 9 8765 4321",
    "+573001234567": "+57 300 123 4567",
    "+14155552671": "+1 415 555 2671|+1 (415) 555-2671|001 415 555 2671",
    "+34612345678": "+34 612 345 678|0034 612345678",
    "+59171234567": "+591 7123 4567|+591-71234567",
    "+593991234567": "+593 99 123 4567|+593 0991234567|+593 (0) 99 123 4567",
}
REPAIRED = {
    MOBILE: """
        051987654321|051 987 654 321|0 51 987654321|+51+51987654321|+51 +51 987654321|+5151987654321|5151987654321
        51 51987654321|(+51) +51987654321|0051+51987654321|0051 51987654321|+051987654321|+51 0051 987654321
        987654321 / 912345678|987654321/912345678|987654321, 912345678|987654321; 912345678|987654321 - 912345678
        987654321 y 912345678|987654321 o 912345678|987654321 ó 912345678|987654321 e 01 4567890|987654321 912345678
        987 654 321 912 345 678|+51987654321 +51912345678|+51987654321+51912345678|987654321 y/o 912345678
        987654321 / 322|4567890 / 987654321|no tengo / 987654321|987654321 (Ana)|Cel: 987654321|cel. 987 654 321
        Mi número es 987654321|WhatsApp 987654321|987654321 whatsapp|Celular:+51987654321|987654321 desde las 6
        wa.me/51987654321|https://wa.me/51987654321|https://wa.me/51987654321?text=Hola|https://wa.me/+51987654321
        https://api.whatsapp.com/send?phone=51987654321&text=hi|wa.me/987654321|51987654321.0|51987654321.00|987654321.0
        987654321,0|5.1987654321E10|5.1987654321E+10|5,1987654321E10|9.87654321E8|987,654,321|51,987,654,321
        ana@example.com 987654321|987654321 ana@example.com|ana912345678@example.com / 987654321|N° 987654321
        Nro. 987654321|987654321 - Juan|T: 987654321 / F: 014567890|PE.912345678 / 987654321
        """,
    LIMA: "01 4567890 / 987654321|Telf. 01-4567890|01 4567890 o 987654321|Oficina: (01) 456-7890|051 1 4567890",
    "+5511987654321": "5511987654321",
    "+5491123456789": "5491123456789",
    "+56987654321": "56987654321|56 9 8765 4321",
    "+573001234567": "573001234567",
    "+14155552671": "14155552671|1 415 555 2671",
    "+34612345678": "34612345678",
    "+59171234567": "59171234567",
    "+593991234567": "593991234567",
}
# WhatsApp knows these numbers, though the library does not.
KEPT = {
    "+554188887777": """
        +55 41 8888-7777|+554188887777|554188887777|+55 (41) 8888 7777|+55.41.8888.7777|0055 41 8888 7777
        """,
    "+5215512345678": "+52 1 55 1234 5678|5215512345678|+521 55 1234-5678|0052 1 55 1234 5678",
}
# Wrong countries, too few and too many digits, other documents, dates and amounts: nobody can know, so nobody guesses.
FLAGGED = """
    4567890|456-7890|98765432|9876543210|98765432101|+519876543210|+1 987654321|+34 987|612345678|12345|0|00|000000000
    123456789|111111111|+987654321|+51 4567890|98765432I|9876S4321|987654|5.19877E+10|*123#|117|45678912|20100070970
    10456789128|987-65432|+51|51|+51 98765432|4567890 anexo 12|15554443333|1500|2026-03-02|12/05/1990|4155552671
    RUC 20100070970|DNI 45678912|+51 987654321 2|00987654321|456-7890 / 91|20601234567
    """
NO_PHONE = """
    -|--|.|N/A|no|no tengo|ninguno|x|😀|ana@example.com|ANA@EXAMPLE.COM|US.51987654321|PE.987654321|US.ENT.51987654321
    PE.ENT.abc123|whatsapp:US.1234|\uff35\uff33\uff0e\uff15\uff11\uff19\uff18\uff17\uff16\uff15\uff14\uff13\uff12\uff11|US.51987654321!|987654321@c.us|51987654321@c.us|987654321@lid
    51987654321@s.whatsapp.net|51987654321:12@s.whatsapp.net|120363@g.us|status@broadcast|Calle 5|piso 12|1-800-FLOWERS
    """
INVISIBLE = ["\u200e+51 987 654 321\u200f", "+51\u00ad987654321", "\ufeff987654321", "987\u2009654\u2009321",
             " 987654321 \n", "\t987654321", "987654321\x00", "\u202a+51\u00a0987654321\u202c"]  # fmt: skip
OTHER_DIGITS = [
    MOBILE.translate({ord("+"): 0xFF0B, **{ord("0") + digit: 0xFF10 + digit for digit in range(10)}}),  # full-width
    "987654321".translate({ord("0") + digit: 0x660 + digit for digit in range(10)}),  # Arabic
    "987654321".translate({ord("0") + digit: 0x245F + digit for digit in range(1, 10)}),  # in circles
    "987\u2013654\u2013321",
]
SEVERAL_LINES = ["987654321\n912345678", "987654321\r\n01 4567890"]


def typed(table: str) -> list[str]:
    return [each.strip() for line in table.strip().splitlines() for each in line.split("|")]


def rows(tables: dict[str, str]) -> list[tuple[str, str]]:
    return [(raw, e164) for e164, table in tables.items() for raw in typed(table)]


@pytest.mark.parametrize(
    ("raw", "e164"), [*rows(AS_IT_STANDS), *((raw, MOBILE) for raw in (*INVISIBLE, *OTHER_DIGITS))]
)
def test_number_that_the_library_reads_is_ok(raw: str, e164: str) -> None:
    found = read(raw, "PE")
    assert (found.raw, found.e164, found.verdict, found.reason) == (raw, e164, "ok", "ok")


@pytest.mark.parametrize(("raw", "e164"), [*rows(REPAIRED), *((raw, MOBILE) for raw in SEVERAL_LINES)])
def test_number_that_is_spoiled_in_a_known_way_is_repaired(raw: str, e164: str) -> None:
    found = read(raw, "PE")
    assert (found.raw, found.e164, found.verdict, found.reason) == (raw, e164, "repaired", "repair")


@pytest.mark.parametrize("region", ["PE", None, "BR", "MX"])
@pytest.mark.parametrize(("raw", "e164"), rows(KEPT))
def test_number_by_an_older_plan_is_kept_and_flagged(raw: str, e164: str, region: str | None) -> None:
    found = read(raw, region)
    assert (found.raw, found.e164, found.verdict, found.reason) == (raw, e164, "flagged", "keep")


@pytest.mark.parametrize("raw", typed(FLAGGED))
def test_what_cannot_be_known_is_flagged_and_not_guessed(raw: str) -> None:
    found = read(raw, "PE")
    assert (found.e164, found.verdict, found.variants) == (None, "flagged", ())


@pytest.mark.parametrize("raw", ["", " ", "\u200b", *typed(NO_PHONE)])
@pytest.mark.parametrize("region", ["PE", None])
def test_what_is_no_phone_is_none_whatever_its_digits(raw: str, region: str | None) -> None:
    found = read(raw, region)
    assert (found.e164, found.verdict) == (None, "not_a_phone")


@pytest.mark.parametrize(
    "raw",
    typed("""
    51987654321|5511987654321|554133334444|5491112345678|541112345678|14155552671|34612345678|59171234567|593991234567
    573001234567|56987654321|447911123456|525512345678
    """),
)
def test_whatsapps_number_needs_no_region(raw: str) -> None:
    found = read(raw, None)
    assert (found.e164, found.verdict) == (f"+{raw}", "ok")


@pytest.mark.parametrize("raw", ["987654321", "987 654 321", "01 4567890", "4567890", "12345", "98765432", "0051 1 2"])
def test_number_without_a_country_needs_a_region(raw: str) -> None:
    assert (read(raw, None).e164, read(raw, None).reason) == (None, "region needed")


@pytest.mark.parametrize(
    ("region", "raw", "e164"),
    [
        ("AR", "11 1234-5678", "+541112345678"),
        ("AR", "011 15 1234-5678", "+5491112345678"),
        ("AR", "9 11 1234 5678", "+5491112345678"),
        ("MX", "55 1234 5678", "+525512345678"),
        ("BR", "(11) 98765-4321", "+5511987654321"),
        ("BR", "011 98765-4321", "+5511987654321"),
        ("CL", "9 8765 4321", "+56987654321"),
        ("CO", "300 123 4567", "+573001234567"),
        ("ES", "612 34 56 78", "+34612345678"),
        ("US", "(415) 555-2671", "+14155552671"),
        ("BO", "71234567", "+59171234567"),
        ("EC", "099 123 4567", "+593991234567"),
        ("pe", "987654321", MOBILE),
    ],
)
def test_home_is_whatever_the_source_says(region: str, raw: str, e164: str) -> None:
    assert (read(raw, region).e164, read(raw, region).verdict) == (e164, "ok")
