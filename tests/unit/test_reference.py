"""`docs/reference/` says what the code says."""

from __future__ import annotations

from dataclasses import fields

import pytest

from intake.app import build
from intake.business_time import BusinessDuration, BusinessHours
from intake.config import Settings
from intake.config.build import UNSIGNED_BODY_BYTES
from intake.config.explained import DEFAULTS, INTAKE, TASK, VARIABLES
from intake.config.settings import DEFAULT_DUE, DEFAULT_HOURS, Source
from intake.db import BoundedConnection, Pool
from intake.deliveries import FINAL, OPEN
from intake.door_texts import REFUSED
from tests import unhurried
from tests.reference.api import codes_of_api
from tests.reference.arrows import allowed, arrows
from tests.reference.door import ADDRESSES, BEFORE_ROUTES, FIELDS, answered, codes_of_door
from tests.reference.pages import FOLDER, PAGES
from tests.reference.settings import TABLES, Table
from tests.reference.variables import reads

UNSET = {key: said.unset for table in (INTAKE, TASK, DEFAULTS) for key, said in table.items()}
DEFAULT_BODY_BYTES = next(each.default for each in fields(Source) if each.name == "max_body_bytes")


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    file = FOLDER / name
    same = file.exists() and file.read_text("utf-8") == PAGES[name]()
    assert same, f"docs/reference/{name} is out of date: run bin/reference, and commit it"


def test_the_reference_has_no_other_pages() -> None:
    assert {each.name for each in FOLDER.iterdir()} == set(PAGES)


# --- the door -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rules() -> set[str]:
    """The door's addresses, with their methods; no database is asked."""
    pool = Pool("", connection_class=BoundedConnection, open=False)
    app = build(unhurried.door(Settings(sources={}, destinations={}), pool), hint=lambda: None)
    methods = {(each.rule, method) for each in app.url_map.iter_rules() for method in each.methods or ()}
    return {f"{method} {rule}" for rule, method in methods if method not in {"HEAD", "OPTIONS"}}


def test_every_address_of_the_door_is_told(rules: set[str]) -> None:
    assert ADDRESSES.keys() - BEFORE_ROUTES == rules


def test_every_field_of_an_acceptance_is_told() -> None:
    assert list(FIELDS) == answered()


def test_every_refusal_of_the_door_has_words() -> None:
    assert codes_of_door().keys() == REFUSED.keys()


def test_every_refusal_of_the_api_has_a_status() -> None:
    assert [code for code, statuses in codes_of_api().items() if not statuses] == []


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", TABLES, ids=lambda each: each.heading)
def test_every_key_of_a_table_is_told_and_no_other(told: Table) -> None:
    assert told.keys.keys() == told.fields.keys()


def test_every_variable_that_the_code_reads_is_told_and_no_other() -> None:
    assert VARIABLES.keys() == reads().keys(), "intake/config/explained.py says what each variable is"


def test_a_default_that_is_told_in_words_holds() -> None:
    told = {key: unset.strip("`") for key, unset in UNSET.items()}
    assert BusinessHours.parse(told["business_hours"]) == DEFAULT_HOURS
    assert BusinessDuration.parse(told["due"]) == DEFAULT_DUE
    assert told["max_body_bytes"] == f"{DEFAULT_BODY_BYTES}; of `web_snippet` {UNSIGNED_BODY_BYTES}"


# --- arrows ---------------------------------------------------------------------------------------------------------


def test_every_arrow_that_the_code_takes_is_one_that_the_database_lets_pass() -> None:
    states = (*OPEN, *FINAL)
    taken = [*arrows("intake/deliveries.py", states, FINAL), *arrows("intake/person_arrows.py", states, FINAL)]
    assert len(taken) > 20
    assert {move for each in taken for move in each.moves} <= set(allowed())
