"""What each CRM tells of an account before anything is delivered there: ready, not ready, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from crm_clients.abilities import Aim, Preflight, Told
from crm_clients.base import Client, Response
from crm_clients.registry import build
from tests.contract.asking import said
from tests.contract.built import NEEDED, built

NAMES = (
    "bitrix24", "bottlecrm", "dolibarr", "espocrm", "hubspot", "kommo",
    "odoo", "pipedrive", "salesforce", "tryton", "zoho",
)  # fmt: skip
each_client = pytest.mark.parametrize("client", [built(name) for name in NAMES], ids=NAMES)
ALL = Aim(pipeline="7", stage="8", task_type="9")
NOT_THERE = {"status": 404, "body": {"success": False}}
KEY = NEEDED["pipedrive"]["deal_reference"]


def asking(client: Client) -> Preflight:
    assert isinstance(client, Preflight)
    return client


def answer(body: object, status: int = 200) -> Response:
    return Response(status, {}, body if isinstance(body, bytes) else json.dumps(body).encode())


def told(client: Client, aim: Aim, part: str, response: Response) -> dict[str, Told]:
    """What is told by this answer to the first question that asks for `part`."""
    question = next(each for each in asking(client).questions(aim) if part in said(each.request))
    return {each.what: each for each in question.read(response)}


def verdicts(found: Mapping[str, Told]) -> dict[str, bool]:
    return {what: each.ok for what, each in found.items()}


@pytest.mark.parametrize(
    ("name", "aim", "part", "body", "expected"),
    [
        ("bottlecrm", Aim(), "/profile/", {"user_obj": {"role": "ADMIN"}}, {"visibility": True}),
        ("bottlecrm", Aim(), "/profile/", {"user_obj": {"role": "USER"}}, {"visibility": False}),
        (
            "bottlecrm",
            Aim(task_type="Urgent"),
            "/profile/",
            {"user_obj": {"role": "ADMIN"}},
            {"visibility": True, "task type": False},
        ),
        (
            "bottlecrm",
            Aim(stage="PROPOSAL"),
            "pipelines",
            {"pipelines": [{"id": "p", "is_default": True, "stages": [{"code": "PROPOSAL"}]}]},
            {"stage": True},
        ),
        (
            "bottlecrm",
            Aim(pipeline="gone", stage="PROPOSAL"),
            "pipelines",
            {"pipelines": [{"id": "p", "is_default": True, "stages": [{"code": "PROPOSAL"}]}]},
            {"pipeline": False},
        ),
        (
            "hubspot",
            Aim(pipeline="default", stage="s1"),
            "/pipelines/deals",
            {"results": [{"id": "default", "archived": False, "stages": [{"id": "s1", "archived": False}]}]},
            {"pipeline": True, "stage": True},
        ),
        (
            "hubspot",
            Aim(pipeline="default", stage="s2"),
            "/pipelines/deals",
            {"results": [{"id": "default", "stages": [{"id": "s1"}, {"id": "s2", "archived": True}]}]},
            {"pipeline": True, "stage": False},
        ),
        (
            "hubspot",
            Aim(task_type="CALL"),
            "/properties/tasks",
            {
                "results": [
                    {"name": "lead_ref", "hasUniqueValue": True},
                    {"name": "hs_task_type", "options": [{"value": "CALL"}]},
                ]
            },
            {"reference task": True, "task type": True},
        ),
        (
            "hubspot",
            Aim(),
            "/properties/deals",
            {"results": [{"name": "lead_ref", "hasUniqueValue": False}]},
            {"reference opportunity": False},
        ),
        (
            "zoho",
            Aim(stage="Qualification"),
            "module=Deals",
            {
                "fields": [
                    {"api_name": "Lead_Ref", "external": {"type": "org"}},
                    {"api_name": "Stage", "pick_list_values": [{"actual_value": "Qualification"}]},
                ]
            },
            {"reference opportunity": True, "stage": True},
        ),
        (
            "zoho",
            Aim(),
            "module=Tasks",
            {"fields": [{"api_name": "Lead_Ref", "external": None}]},
            {"reference task": False},
        ),
        (
            "salesforce",
            Aim(pipeline="012000000000001AAA"),
            "Opportunity/describe",
            {
                "fields": [
                    {"name": "Lead_Ref__c", "unique": False},
                    {"name": "StageName", "picklistValues": [{"value": "Prospecting", "active": False}]},
                ],
                "recordTypeInfos": [{"recordTypeId": "012000000000001", "available": True}],
            },
            {"reference opportunity": True, "stage": False, "pipeline": True},
        ),
        (
            "pipedrive",
            Aim(),
            f"dealFields/{KEY}",
            {"success": True, "data": {"field_code": KEY}},
            {"reference opportunity": True},
        ),
        (
            "pipedrive",
            Aim(pipeline="1", stage="5"),
            "/stages/5",
            {"success": True, "data": {"id": 5, "pipeline_id": 2, "is_deleted": False}},
            {"stage": False},
        ),
        (
            "pipedrive",
            Aim(task_type="call"),
            "activityTypes",
            {"success": True, "data": [{"key_string": "call", "active_flag": True}]},
            {"task type": True},
        ),
        ("odoo", Aim(), "crm.lead/fields_get", {"x_external_ref": {"type": "char"}}, {"reference opportunity": True}),
        ("odoo", Aim(), "mail.activity/fields_get", {}, {"reference task": False}),
        ("odoo", Aim(stage="4"), "crm.stage", [{"id": 4}], {"stage": True}),
        ("odoo", Aim(pipeline="Perú"), "crm.team", [], {"pipeline": False}),
        ("espocrm", Aim(), "Opportunity.fields.cExternalRef", {"type": "varchar"}, {"reference opportunity": True}),
        ("espocrm", Aim(), "Task.fields.cExternalRef", b"null", {"reference task": False}),
        ("espocrm", Aim(stage="Won"), "stage.options", ["Prospecting"], {"stage": False}),
        ("kommo", Aim(), "leads/custom_fields/702", {"id": 702}, {"reference opportunity": True}),
        (
            "kommo",
            Aim(stage="33"),
            "/leads/pipelines",
            {"_embedded": {"pipelines": [{"id": 1, "is_main": True, "_embedded": {"statuses": [{"id": 33}]}}]}},
            {"stage": True},
        ),
        ("kommo", Aim(task_type="2"), "task_types", {"_embedded": {"task_types": [{"id": 1}]}}, {"task type": False}),
        ("bitrix24", Aim(), "profile", {"result": {"ID": "1", "ADMIN": True}}, {"visibility": True}),
        ("bitrix24", Aim(pipeline="0"), "category", {"result": {"categories": [{"id": 0}]}}, {"pipeline": True}),
        (
            "bitrix24",
            Aim(pipeline="3", stage="C3:X"),
            "DEAL_STAGE_3",
            {"result": [{"STATUS_ID": "C3:NEW"}]},
            {"stage": False},
        ),
        ("tryton", Aim(), "project.work", [], {"module project": True}),
        (
            "dolibarr",
            Aim(),
            "/setup/modules",
            ["agenda", "api", "societe"],
            {"module societe": True, "module projet": False, "module agenda": True},
        ),
        ("dolibarr", Aim(), "/thirdparties", [], {"reference contact": True}),
        ("dolibarr", Aim(stage="3"), "/projects", [{"id": "1", "opp_status": "3"}], {"stage": True}),
        ("dolibarr", Aim(stage="3"), "/projects", [], {}),
        ("dolibarr", Aim(), "event_types", [{"code": "AC_TEL"}, {"code": "AC_OTH"}], {"task type": True}),
        ("dolibarr", Aim(task_type="AC_VISIT"), "event_types", [{"code": "AC_TEL"}], {"task type": False}),
        ("dolibarr", Aim(), "/users/1", {"id": "1", "statut": "0"}, {"user 1": False}),
    ],
)
def test_an_answer_tells_what_is_ready(name: str, aim: Aim, part: str, body: object, expected: dict[str, bool]) -> None:
    assert verdicts(told(built(name), aim, part, answer(body))) == expected


def test_a_missing_field_of_bottlecrm_is_defined() -> None:
    found = told(built("bottlecrm"), Aim(), "/custom-fields/", answer({"definitions": []}))
    mends = [each.mends for each in found.values()]
    assert [json.loads(each.body or b"")["target_model"] for each in mends if each] == [
        "Contact",
        "Opportunity",
        "Task",
    ]


def test_a_field_of_bottlecrm_that_is_switched_off_is_not_defined_again() -> None:
    off = {"definitions": [{"key": "external_ref", "target_model": "Task", "is_active": False}]}
    found = told(built("bottlecrm"), Aim(), "/custom-fields/", answer(off))["reference task"]
    assert (found.ok, found.mends) == (False, None)


def test_a_missing_property_of_hubspot_is_made_unique_in_its_neighbours_group() -> None:
    body = {"results": [{"name": "dealname", "groupName": "dealinformation"}]}
    mends = told(built("hubspot"), Aim(), "/properties/deals", answer(body))["reference opportunity"].mends
    assert mends is not None
    asked = json.loads(mends.body or b"")
    assert (mends.path, asked["hasUniqueValue"], asked["groupName"]) == (
        "/crm/v3/properties/deals", True, "dealinformation",
    )  # fmt: skip


def test_a_field_that_must_be_unique_for_salesforce_is_told_when_it_is_not() -> None:
    client = build("salesforce", {"enforced": "contact"})
    body = {"fields": [{"name": "Lead_Ref__c", "unique": False}]}
    assert verdicts(told(client, Aim(), "Contact/describe", answer(body))) == {"reference contact": False}


def test_a_missing_field_of_pipedrive_is_told() -> None:
    found = told(built("pipedrive"), Aim(), f"dealFields/{KEY}", answer({"success": False}, 404))
    assert verdicts(found) == {"reference opportunity": False}


def test_a_module_of_tryton_that_is_not_activated_is_told() -> None:
    page = b"<!doctype html><title>500</title><p>project.work</p>"
    assert verdicts(told(built("tryton"), Aim(), "project.work", answer(page, 500))) == {"module project": False}


ALLOWED = {
    "societe": {"lire": 1, "creer": 1, "client": {"voir": 1}},
    "projet": {"lire": 1, "creer": 1, "all": {"lire": 1}},
    "agenda": {"myactions": {"read": 1, "create": 1}, "allactions": {"read": 1, "create": 1}},
}


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"rights": ALLOWED, "socid": None}, {"visibility": True, "rights": True}),
        ({"rights": ALLOWED, "socid": "7"}, {"visibility": False, "rights": True}),
        ({"rights": ALLOWED | {"projet": {"creer": 1}}}, {"visibility": False, "rights": True}),
        ({"rights": ALLOWED | {"societe": {"client": {"voir": 1}}}}, {"visibility": True, "rights": False}),
        ({"rights": {}}, {"visibility": False, "rights": False}),
        ({"id": "1"}, {}),
    ],
)
def test_the_rights_of_dolibarr_s_user_tell_what_he_sees_and_may(user: object, expected: dict[str, bool]) -> None:
    assert verdicts(told(built("dolibarr"), Aim(), "/users/info", answer(user))) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"projet": {"intake_owner": {"type": "int"}}}, {"owner_field": True}),
        ({"societe": {"intake_owner": {"type": "int"}}}, {"owner_field": False}),
        ([], {"owner_field": False}),
    ],
)
def test_the_owner_s_extra_field_of_dolibarr_is_one_of_projects(fields: object, expected: dict[str, bool]) -> None:
    client = build("dolibarr", {"user": "1", "owner_field": "intake_owner"})
    assert verdicts(told(client, Aim(), "/setup/extrafields", answer(fields))) == expected


def test_the_owner_s_extra_field_of_dolibarr_can_be_made() -> None:
    client = build("dolibarr", {"user": "1", "owner_field": "intake_owner"})
    missing = told(client, Aim(), "/setup/extrafields", answer([]))["owner_field"]
    assert missing.mends is not None
    assert (missing.mends.method, missing.mends.path) == ("POST", "/setup/extrafields/projet/intake_owner")
    assert json.loads(missing.mends.body or b"")["type"] == "int"


def test_what_dolibarr_tells_to_administrators_alone_is_left_out() -> None:
    refused = {"error": {"code": 403, "message": "Forbidden: Error API open to admin users only"}}
    for part in ("/setup/modules", "/users/info"):
        assert told(built("dolibarr"), Aim(), part, answer(refused, 403)) == {}


def test_a_wrong_word_is_told_with_the_right_ones() -> None:
    body = {"pipelines": [{"id": "p", "is_default": True, "stages": [{"code": "A"}, {"code": "B"}]}]}
    assert "A, B" in told(built("bottlecrm"), Aim(stage="C"), "pipelines", answer(body))["stage"].remedy


@each_client
@pytest.mark.parametrize(
    ("status", "body"),
    [(500, {}), (500, []), (403, {}), (401, b"<html>"), (200, b"\xff"), (200, {"results": 7}), (429, None)],
)
def test_another_answer_tells_nothing(client: Client, status: int, body: object) -> None:
    answered = (each.read(answer(body, status)) for each in asking(client).questions(ALL))
    assert not any(answered)


@each_client
def test_a_question_changes_nothing(client: Client) -> None:
    """Where every call is a POST, its method's name tells."""
    reading = ("fields_get", "search_read", "profile", ".list")
    for each in asking(client).questions(ALL):
        assert each.request.method == "GET" or any(word in said(each.request) for word in reading)
