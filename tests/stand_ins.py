"""Stand-ins for CRMs that nobody here has an account of: they keep what they are given, and answer in its words.

Written by us after the vendors' pages, as their clients are: what they show is that pipeline and client fit together,
and never how the CRM itself behaves.  They answer inside the process, in the place of the transport (`stand_in_line`).
"""

from __future__ import annotations

import itertools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import unquote

from crm_clients.base import Kind, Request

Fields = dict[str, object]
Answer = tuple[int, object]
REFERENCE = "Lead_Ref"
PERSON_KEY, DEAL_KEY, TEXT_KEY = "1a" * 20, "2b" * 20, "3c" * 20


class NoSuchPath(Exception):
    """A stand-in knows nothing of this address."""


@dataclass
class StandIn(ABC):
    """One CRM.  `OBJECTS`: what it calls the kinds."""

    kept: dict[Kind, dict[str, Fields]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1001))

    OBJECTS: ClassVar[Mapping[Kind, str]] = {
        Kind.CONTACT: "contacts",
        Kind.OPPORTUNITY: "deals",
        Kind.TASK: "tasks",
        Kind.NOTE: "notes",
    }

    @abstractmethod
    def answer(self, request: Request) -> Answer:
        """Do what is asked.  Raises NoSuchPath."""

    @abstractmethod
    def reference(self, kind: Kind, row: Fields) -> str:
        """Under which reference a record stands."""

    def leads(self, kind: Kind) -> list[Fields]:
        """The records of a kind, without sentinels."""
        return [row for row in self.kept[kind].values() if "sentinel" not in self.reference(kind, row)]

    def keep(self, kind: Kind, fields: Fields) -> str:
        crm_id = str(next(self.ids))
        self.kept[kind][crm_id] = fields
        return crm_id

    def kind(self, name: str) -> Kind:
        """Raises NoSuchPath."""
        found = next((kind for kind, own in self.OBJECTS.items() if own == name), None)
        if found is None:
            raise NoSuchPath(name)
        return found


class HubSpot(StandIn):
    """Unique properties, and a contact's e-mail."""

    def reference(self, kind: Kind, row: Fields) -> str:  # noqa: ARG002 - it has a place of its own
        return str(inner(row["properties"])["lead_ref"])

    def answer(self, request: Request) -> Answer:
        path, body = request.path.split("/")[2:], read(request)
        if path[1] == "properties" and len(path) == 3:
            raise NoSuchPath(request.path)
        if path[1] == "properties":
            return 200, {"name": path[3], "hasUniqueValue": True}
        if path[1] == "owners":
            return 200, {"id": path[2], "archived": False}
        kind, rest = self.kind(path[2]), path[3:]
        if rest == ["search"]:
            rows = [self._shown(kind, crm_id) for crm_id in self.kept[kind]]
            return 200, {"total": len(rows), "results": rows}
        if rest == ["batch", "read"]:
            (asked,) = (inner(each)["id"] for each in listed(body["inputs"]))
            found = [each for each in self.kept[kind] if self._properties(kind, each).get("email") == asked]
            return 200, {"status": "COMPLETE", "results": [self._shown(kind, each) for each in found]}
        if rest:
            return self._one(kind, unquote(rest[0]), request)
        return self._create(kind, body)

    def _properties(self, kind: Kind, crm_id: str) -> Fields:
        return inner(self.kept[kind][crm_id]["properties"])

    def _shown(self, kind: Kind, crm_id: str) -> Fields:
        links = listed(self.kept[kind][crm_id].get("associations"))
        contacts = [{"id": inner(inner(link)["to"])["id"]} for link in links]
        shown = {"id": crm_id, "archived": False, "properties": self._properties(kind, crm_id)}
        return {**shown, "associations": {"contacts": {"results": contacts}}}

    def _one(self, kind: Kind, value: str, request: Request) -> Answer:
        by = dict(request.query).get("idProperty")
        known = self.kept[kind]
        found = [each for each in known if (self._properties(kind, each).get(by) if by else each) == value]
        if not found:
            return 404, {"status": "error", "message": "resource not found", "correlationId": "x"}
        self._properties(kind, found[0]).update(inner(read(request).get("properties", {})))
        return 200, self._shown(kind, found[0])

    def _create(self, kind: Kind, body: Fields) -> Answer:
        new = inner(body["properties"])
        for crm_id in self.kept[kind]:
            old = self._properties(kind, crm_id)
            if old["lead_ref"] == new["lead_ref"]:
                said = f"propertyName=lead_ref, value=x}} on 9. {crm_id} already has that value."
                return 400, {"category": "VALIDATION_ERROR", "correlationId": "x", "message": said}
            if new.get("email") and old.get("email") == new["email"]:
                return 409, {"category": "CONFLICT", "correlationId": "x", "message": f"Existing ID: {crm_id}"}
        return 201, self._shown(kind, self.keep(kind, body))


class Zoho(StandIn):
    """An external field, and notes below their deal."""

    OBJECTS: ClassVar[Mapping[Kind, str]] = {
        Kind.CONTACT: "Contacts",
        Kind.OPPORTUNITY: "Deals",
        Kind.TASK: "Tasks",
        Kind.NOTE: "Notes",
    }

    def reference(self, kind: Kind, row: Fields) -> str:
        return marked(row["Note_Content"]) if kind is Kind.NOTE else str(row[REFERENCE])

    def answer(self, request: Request) -> Answer:
        path = request.path.split("/")[3:]
        if path[0] == "settings":
            return 200, {"fields": [{"api_name": REFERENCE, "external": {"type": "org"}}]}
        if path[0] == "users":
            return 200, {"users": [{"id": path[1], "status": "active"}]}
        if len(path) == 3:
            return self._notes(path[1], request)
        kind = self.kind(path[0])
        if path[1:] == ["search"]:
            return self._list(kind, list(self.kept[kind]))
        if request.method == "POST":
            return self._create(kind, inner(listed(read(request)["data"])[0]))
        return self._one(kind, unquote(path[1]), request)

    def _list(self, kind: Kind, ids: list[str]) -> Answer:
        rows = [{REFERENCE: None, **self.kept[kind][each], "id": each} for each in ids]
        return (200, {"data": rows, "info": {"more_records": False}}) if rows else (204, None)

    def _notes(self, deal: str, request: Request) -> Answer:
        if request.method == "POST":
            return self._done(self.keep(Kind.NOTE, inner(listed(read(request)["data"])[0]) | {"Parent_Id": deal}))
        return self._list(Kind.NOTE, [each for each, row in self.kept[Kind.NOTE].items() if row["Parent_Id"] == deal])

    def _create(self, kind: Kind, row: Fields) -> Answer:
        same = [each for each, old in self.kept[kind].items() if old[REFERENCE] == row[REFERENCE]]
        if same:
            details = {"api_name": REFERENCE, "duplicate_record": {"id": same[0]}}
            return 400, {"data": [{"code": "DUPLICATE_DATA", "status": "error", "message": "x", "details": details}]}
        return self._done(self.keep(kind, row))

    @staticmethod
    def _done(crm_id: str) -> Answer:
        return 201, {"data": [{"code": "SUCCESS", "status": "success", "details": {"id": crm_id}}]}

    def _one(self, kind: Kind, value: str, request: Request) -> Answer:
        by = REFERENCE if "X-EXTERNAL" in dict(request.headers) else None
        found = [each for each, row in self.kept[kind].items() if (row.get(by) if by else each) == value]
        if not found:
            return 204, None
        if request.method == "PUT":
            self.kept[kind][found[0]].update(inner(listed(read(request)["data"])[0]))
            return self._done(found[0])
        return self._list(kind, found)


class Salesforce(StandIn):
    """Conditions that are equal, and every contact where a telephone may be written in several ways."""

    OBJECTS: ClassVar[Mapping[Kind, str]] = {
        Kind.CONTACT: "Contact",
        Kind.OPPORTUNITY: "Opportunity",
        Kind.TASK: "Task",
        Kind.NOTE: "Note",
    }

    def reference(self, kind: Kind, row: Fields) -> str:
        return str(row["Title"] if kind is Kind.NOTE else row["Lead_Ref__c"])

    def answer(self, request: Request) -> Answer:
        path = request.path.split("/")[4:]
        if path[0] in {"query", "queryAll"}:
            return self._query(dict(request.query)["q"])
        if path[-1] == "describe":
            raise NoSuchPath(request.path)
        kind = self.kind(path[1])
        if request.method == "PATCH":
            self.kept[kind][path[2]].update(read(request))
            return 204, None
        return 201, {"id": self.keep(kind, read(request)), "success": True, "errors": []}

    def _query(self, soql: str) -> Answer:
        name = soql.partition(" FROM ")[2].split()[0]
        if name == "User":
            return 200, {"totalSize": 1, "done": True, "records": [{"IsActive": True}]}
        kind = self.kind(name)
        wanted = {} if " IN (" in soql else dict(re.findall(r"(\w+) = '([^']*)'", soql))
        beyond = dict(re.findall(r"(\w+) > '([^']*)'", soql)).get("Id", "")
        shown = [{"Lead_Ref__c": None, "Title": None, **row, "Id": each} for each, row in self.kept[kind].items()]
        rows = [row for row in shown if all(row.get(name) == value for name, value in wanted.items())]
        rows = [row for row in rows if str(row["Id"]) > beyond]
        return 200, {"totalSize": len(rows), "done": True, "records": rows}


class Pipedrive(StandIn):
    """Nothing is unique; what is searched for is looked up among the values of custom fields."""

    OBJECTS: ClassVar[Mapping[Kind, str]] = {
        Kind.CONTACT: "persons",
        Kind.OPPORTUNITY: "deals",
        Kind.TASK: "activities",
        Kind.NOTE: "notes",
    }

    def reference(self, kind: Kind, row: Fields) -> str:
        match kind:
            case Kind.CONTACT:
                return str(inner(row["custom_fields"])[PERSON_KEY])
            case Kind.OPPORTUNITY:
                return str(inner(row["custom_fields"])[DEAL_KEY])
            case Kind.TASK:
                return marked(row["note"])
            case Kind.NOTE:
                return marked(row["content"])

    def answer(self, request: Request) -> Answer:
        path = request.path.split("/")[3:]
        if path[0] == "dealFields":
            return done({"field_code": path[1]})
        if path[0] == "users":
            return done({"id": int(path[1]), "active_flag": True})
        kind, query = self.kind(path[0]), dict(request.query)
        if path[1:] == ["search"]:
            return self._search(kind, query)
        if request.method == "POST":
            return self._shown(kind, self.keep(kind, read(request)))
        if path[1:]:
            self._change(kind, path[1], read(request))
            return self._shown(kind, path[1])
        deal = query.get("deal_id")
        rows = [each for each, row in self.kept[kind].items() if deal in {None, str(row.get("deal_id"))}]
        return done([{"custom_fields": {}, **self.kept[kind][each], "id": int(each)} for each in rows])

    def _shown(self, kind: Kind, crm_id: str) -> Answer:
        return done({"custom_fields": {}, "status": "open", **self.kept[kind][crm_id], "id": int(crm_id)})

    def _change(self, kind: Kind, crm_id: str, body: Fields) -> None:
        row = self.kept[kind][crm_id]
        custom = {**inner(row.get("custom_fields", {})), **inner(body.get("custom_fields", {}))}
        row.update({**body, "custom_fields": custom})

    def _search(self, kind: Kind, query: dict[str, str]) -> Answer:
        items = [self._item(crm_id, row) for crm_id, row in self.kept[kind].items()]
        if query["fields"] == "custom_fields":
            items = [item for item in items if query["term"] in listed(item["custom_fields"])]
        return done({"items": [{"item": item} for item in items]})

    @staticmethod
    def _item(crm_id: str, row: Fields) -> Fields:
        reach = {name: [inner(each)["value"] for each in listed(row.get(name))] for name in ("phones", "emails")}
        return {"id": int(crm_id), "custom_fields": list(inner(row["custom_fields"]).values()), **reach}


def read(request: Request) -> Fields:
    """The JSON object that a request holds."""
    return inner(json.loads(request.body or b"{}"))


def inner(value: object) -> Fields:
    assert isinstance(value, dict)
    return value


def listed(value: object) -> list[object]:
    assert value is None or isinstance(value, list)
    return value or []


def marked(text: object) -> str:
    """The reference at the end of a text."""
    return str(text).rpartition("[ref:")[2].rstrip("]")


def done(data: object) -> Answer:
    return 200, {"success": True, "data": data, "additional_data": {"next_cursor": None}}
