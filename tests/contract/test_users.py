"""Whether a user can still own something, as four CRMs tell it: yes, no, or nothing at all."""

from __future__ import annotations

import json

import pytest

from crm_clients.base import Response
from crm_clients.hubspot import HubSpot
from crm_clients.pipedrive import Pipedrive
from crm_clients.salesforce import Salesforce
from crm_clients.zoho import Zoho

KnowsUsers = HubSpot | Pipedrive | Salesforce | Zoho
PIPEDRIVE = Pipedrive("1a" * 20, "2b" * 20, "3c" * 20)
GONE = {"status": "error", "message": "resource not found", "correlationId": "x"}
USER = {"id": "77", "status": "active"}


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("client", "status", "body", "there"),
    [
        (HubSpot(), 200, {"id": "77", "archived": False}, True),
        (HubSpot(), 200, {"id": "77", "archived": True}, False),
        (HubSpot(), 404, GONE, False),
        (Zoho(), 200, {"users": [USER]}, True),
        (Zoho(), 200, {"users": [{**USER, "status": "disabled"}]}, False),
        (Salesforce(), 200, {"totalSize": 1, "done": True, "records": [{"Id": "77", "IsActive": True}]}, True),
        (Salesforce(), 200, {"totalSize": 1, "done": True, "records": [{"Id": "77", "IsActive": False}]}, False),
        (Salesforce(), 200, {"totalSize": 0, "done": True, "records": []}, False),
        (PIPEDRIVE, 200, {"success": True, "data": {"id": 77, "active_flag": True}}, True),
        (PIPEDRIVE, 200, {"success": True, "data": {"id": 77, "active_flag": False}}, False),
        (PIPEDRIVE, 404, {"success": False, "error": "User not found"}, False),
    ],
)
def test_a_user_is_there_or_not(client: KnowsUsers, status: int, body: object, there: bool) -> None:
    assert client.is_there("77", answer(status, body)) is there


@pytest.mark.parametrize("client", [HubSpot(), Zoho(), Salesforce(), PIPEDRIVE], ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("status", "body"), [(500, {}), (403, {}), (200, {}), (200, []), (200, {"id": "78"}), (404, "<html>"), (200, None)]
)
def test_another_answer_tells_nothing(client: KnowsUsers, status: int, body: object) -> None:
    assert client.is_there("77", answer(status, body)) is None


@pytest.mark.parametrize("client", [HubSpot(), Zoho(), Salesforce(), PIPEDRIVE], ids=lambda each: each.name)
def test_the_user_is_asked_for(client: KnowsUsers) -> None:
    request = client.user("77")
    assert request.method == "GET"
    assert "77" in f"{request.path}{request.query}"
