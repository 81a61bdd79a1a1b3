"""Whether a user can still own something, as five more CRMs tell it: yes, no, or nothing at all."""

from __future__ import annotations

import json

import pytest

from crm_clients.abilities import KnowsUsers
from crm_clients.base import Client, Response
from tests.contract.asking import said
from tests.contract.built import built

NAMES = ("bitrix24", "espocrm", "kommo", "odoo", "tryton")
each_client = pytest.mark.parametrize("client", [built(name) for name in NAMES], ids=NAMES)
GONE = {"x-status-reason": "Record 77 does not exist."}


def knowing(client: Client) -> KnowsUsers:
    assert isinstance(client, KnowsUsers)
    return client


def answer(status: int, body: object, **headers: str) -> Response:
    return Response(status, headers, b"" if body is None else json.dumps(body).encode())


@pytest.mark.parametrize(
    ("name", "response", "there"),
    [
        ("bitrix24", answer(200, {"result": [{"ID": "77", "ACTIVE": True}], "total": 1}), True),
        ("bitrix24", answer(200, {"result": [{"ID": "77", "ACTIVE": False}], "total": 1}), False),
        ("bitrix24", answer(200, {"result": [], "total": 0}), False),
        ("espocrm", answer(200, {"id": "77", "isActive": True}), True),
        ("espocrm", answer(200, {"id": "77", "isActive": False}), False),
        ("espocrm", Response(404, GONE, b""), False),
        ("kommo", answer(200, {"id": 77, "rights": {"is_active": True}}), True),
        ("kommo", answer(200, {"id": 77, "rights": {"is_active": False}}), False),
        ("kommo", Response(204, {}, b""), False),
        ("odoo", answer(200, [{"id": 77, "active": True}]), True),
        ("odoo", answer(200, [{"id": 77, "active": False}]), False),
        ("odoo", answer(200, []), False),
        ("tryton", answer(200, [{"id": 77, "active": True}]), True),
        ("tryton", answer(200, [{"id": 77, "active": False}]), False),
        ("tryton", answer(200, []), False),
    ],
)
def test_a_user_is_there_or_not(name: str, response: Response, there: bool) -> None:
    assert knowing(built(name)).is_there("77", response) is there


@each_client
@pytest.mark.parametrize(
    ("status", "body"),
    [(500, {}), (500, []), (403, {}), (401, []), (200, {}), (200, {"id": "78"}), (200, [{"id": 78, "active": True}])],
)
def test_another_answer_tells_nothing(client: Client, status: int, body: object) -> None:
    assert knowing(client).is_there("77", answer(status, body)) is None


@each_client
def test_the_user_is_asked_for(client: Client) -> None:
    assert "77" in said(knowing(client).user("77"))
