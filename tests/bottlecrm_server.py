"""A running BottleCRM as its users see it: read and changed over its own API, past every line of ours.

`$CRM_SERVERS_HOME/<name>/state.json` (by default below ~/.cache/crm-servers) names the base URL, the headers of an
administrator's token and of a read-only one, and the profiles `alice` and `bob`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests

HOME = Path(os.environ.get("CRM_SERVERS_HOME", "~/.cache/crm-servers")).expanduser()
PATIENCE = 60.0  # seconds; the server whose broker is away answers after 19

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and who may do what there."""

    base_url: str
    token: str = field(repr=False)
    readonly_token: str = field(repr=False)
    alice: str
    bob: str

    # --- reading ---

    def contacts(self, **filters: str) -> list[Row]:
        """All contacts, active or not, whose fields contain these."""
        return _rows(self._get("/contacts/", filters), "results")

    def contact(self, crm_id: str) -> Row:
        return _mapping(self._get(f"/contacts/{crm_id}/", {})["contact_obj"])

    def opportunities(self, **filters: str) -> list[Row]:
        """All opportunities whose name contains this, or whose custom field has this value (`cf_external_ref`)."""
        return _rows(self._get("/opportunities/", filters), "opportunities")

    def opportunity(self, crm_id: str) -> Row:
        return _mapping(self._get(f"/opportunities/{crm_id}/", {})["opportunity_obj"])

    def tasks(self, **filters: str) -> list[Row]:
        """All tasks of an opportunity, or under a reference."""
        return _rows(self._get("/tasks/", filters | {"slim": "true"}), "tasks")

    def comments(self, opportunity_id: str) -> list[str]:
        """What stands below an opportunity, the oldest first."""
        rows = _rows(self._get(f"/opportunities/{opportunity_id}/", {}), "comments")
        return [str(row["comment"]) for row in sorted(rows, key=lambda row: str(row["commented_on"]))]

    def field_definitions(self) -> requests.Response:
        return requests.get(f"{self.base_url}/custom-fields/", headers=self._headers, timeout=PATIENCE)

    # --- what people do by hand ---

    def make_contact(self, **fields: object) -> str:
        return str(self._send("POST", "/contacts/", fields)["id"])

    def make_opportunity(self, **fields: object) -> str:
        return str(self._send("POST", "/opportunities/", fields)["id"])

    def change(self, kind: str, crm_id: str, **fields: object) -> None:
        """`kind` as in the address: contacts, opportunities, tasks."""
        self._send("PATCH", f"/{kind}/{crm_id}/", fields)

    def delete(self, kind: str, crm_id: str) -> None:
        answer = requests.delete(f"{self.base_url}/{kind}/{crm_id}/", headers=self._headers, timeout=PATIENCE)
        assert answer.ok, answer.status_code

    # -----------------------------------------------------------------------------------------------------------------

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _get(self, path: str, filters: Mapping[str, str]) -> Row:
        answer = requests.get(self.base_url + path, params=dict(filters), headers=self._headers, timeout=PATIENCE)
        assert answer.ok, (path, answer.status_code)
        return _mapping(answer.json())

    def _send(self, method: str, path: str, fields: Mapping[str, object]) -> Row:
        url = self.base_url + path
        answer = requests.request(method, url, json=dict(fields), headers=self._headers, timeout=PATIENCE)
        assert answer.ok, (method, path, answer.status_code, answer.text[:300])
        return _mapping(answer.json())


def _mapping(value: object) -> Row:
    assert isinstance(value, dict)
    return value


def _rows(body: Row, name: str) -> list[Row]:
    rows = body[name]
    assert isinstance(rows, list)
    return [_mapping(row) for row in rows]


def owners(row: Row) -> list[str]:
    """The profiles that a record is assigned to."""
    return [str(each["id"]) for each in _rows(row, "assigned_to")]


def server(name: str) -> Server:
    """The server of this name; without it the test is not run, and says why."""
    state = HOME / name / "state.json"
    if not state.is_file():
        pytest.skip(f"not run: there is no {name} ({state} is missing)")
    told = json.loads(state.read_text("utf-8"))
    token, readonly = (
        told[headers]["Authorization"].removeprefix("Bearer ") for headers in ("headers", "readonly_headers")
    )
    found = Server(told["base_url"], token, readonly, told["profiles"]["alice"], told["profiles"]["bob"])
    try:
        status = found.field_definitions().status_code
    except requests.ConnectionError:
        pytest.skip(f"not run: {name} does not answer at {found.base_url}")
    assert status == requests.codes.ok, status
    return found
