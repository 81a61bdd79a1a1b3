"""A table of people is read as a spreadsheet writes it, and what is wrong in it is told without repeating it."""

from __future__ import annotations

import click
import pytest

from intake.cli import persons, place
from intake.cli.persons import Misread
from intake.lead import Contact


def read(content: bytes) -> list[persons.Person]:
    with click.Context(click.Command("forget")) as context:
        context.meta[place.LANGUAGE] = "en"
        return persons.of_table(content, "PE")


def ids(content: bytes) -> list[tuple[int | None, list[str | None]]]:
    return [(each.row, [known(one) for one in each.contacts]) for each in read(content)]


def known(contact: Contact) -> str | None:
    return contact.email or contact.wa_id or contact.bsuid or (contact.phone.e164 if contact.phone else None)


@pytest.mark.parametrize(
    "content",
    [
        b"phone,email,wa_id\n987654321,ana@example.com,\n,,PE.Ab12\n",
        b"\xef\xbb\xbfphone;email;wa_id\r\n987654321;ana@example.com;\r\n;;PE.Ab12\r\n",
        b"Phone\tEMAIL\twa_id\n51987654321.0\tana@example.com\n\t\tPE.Ab12\n",
    ],
)
def test_each_row_is_a_person_however_it_is_written(content: bytes) -> None:
    assert ids(content) == [(2, ["+51987654321", "ana@example.com"]), (3, ["PE.Ab12"])]


def test_several_values_of_one_person_stand_in_one_cell() -> None:
    content = b'phone,wa_id\n"987 654 321; +51 912-345-678","+51 987 654 321\n51912345678"\n'
    assert ids(content) == [(2, ["+51987654321", "+51912345678", "51987654321", "51912345678"])]


@pytest.mark.parametrize(
    "typed",
    ["+51 987 654 321", "51987654321.0", "5.1987654321E+10", "987654321", "\u202a+51987654321\u202c", "٥١٩٨٧٦٥٤٣٢١"],
)
def test_a_number_of_whatsapp_is_known_however_it_is_written(typed: str) -> None:
    assert ids(f"wa_id\n{typed}\n".encode()) == [(2, ["51987654321"])]


def test_a_number_of_whatsapp_that_has_its_country_stays_as_it_is() -> None:
    assert ids(b"wa_id\n5215512345678\n2902345\n") == [(2, ["5215512345678"]), (3, ["2902345"])]


def test_rows_are_numbered_as_in_a_spreadsheet_though_some_are_empty() -> None:
    assert [row for row, _ in ids(b"email\nana@example.com\n\n \nluis@example.com\n")] == [2, 5]


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (b"12,,", "phone"),
        (b"987654321 / 912345678,,", "phone"),
        (b"987654321 912345678,,", "phone"),
        (b"9.87E+08,,", "phone"),
        (b"987654321;Ana,,", "phone"),
        (b",ana@example,", "email"),
        (b",Ana <ana@example.com>,", "email"),
        (b",,Ana Prueba", "wa_id"),
        (b",,ana@example.com", "wa_id"),
        (b",,N/A", "wa_id"),
        (b",,-", "wa_id"),
        (b",,5.19877E+10", "wa_id"),
        (b",,51987654321 51912345678", "wa_id"),
    ],
)
def test_a_bad_cell_is_named_and_not_repeated(row: bytes, column: str) -> None:
    with pytest.raises(Misread) as wrong:
        read(b"phone,email,wa_id\n987654321,,\n" + row + b"\n")
    assert str(wrong.value).startswith(f"row 3, column {column}: ")
    assert not any(value in str(wrong.value) for value in row.decode().split(",") if value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(Misread) as wrong:
        read(b"phone,email\nx,x\n987654321,\nx,\n")
    assert [line.partition(":")[0] for line in str(wrong.value).split("\n")] == [
        "row 2, column phone",
        "row 2, column email",
        "row 4, column phone",
    ]


@pytest.mark.parametrize("content", [b"987654321,ana@example.com\n", b"phone,correo\n987654321,ana@example.com\n"])
def test_a_column_of_another_name_is_refused_and_not_repeated(content: bytes) -> None:
    with pytest.raises(Misread, match=r"may be phone, email, wa_id; column [12] is none") as wrong:
        read(content)
    assert "ana" not in str(wrong.value)


@pytest.mark.parametrize("content", [b"", b"phone\n", b"phone,email\n,\n;\n", b"phone,phone\n1,2\n", b"phone\n1,2\n"])
def test_a_file_that_names_nobody_is_refused(content: bytes) -> None:
    with pytest.raises(Misread):
        read(content)
