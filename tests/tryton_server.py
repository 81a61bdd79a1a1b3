"""A running Tryton as its users see it: read and changed over its REST API, past every line of ours.

`$CRM_SERVERS_HOME/tryton/state.json` (by default below ~/.cache/crm-servers) names the base URL, the headers of a key,
the company and the employees `alice` and `bob`.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import pytest
import requests

from tests.bottlecrm_server import HOME

PATIENCE = 60.0  # seconds

Row = Mapping[str, object]

UUID_IN_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and who may do what there."""

    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    company: int
    alice: str
    bob: str

    @property
    def key(self) -> str:
        return self.headers["Authorization"].removeprefix("Bearer ")

    def search(self, model: str, *domain: object, fields: tuple[str, ...] = ()) -> list[Row]:
        """All records that a filter finds."""
        asked = [("d", urlsafe_b64encode(json.dumps(domain).encode()).decode()), *(("f", each) for each in fields)]
        url = f"{self.base_url}/{model}"
        answer = requests.get(url, params=asked, headers=dict(self.headers), timeout=PATIENCE)
        assert answer.ok, (model, answer.status_code, answer.text[:300])
        return [_mapping(row) for row in answer.json()]

    def make(self, model: str, **fields: object) -> str:
        return str(self._send("POST", f"/{model}", fields)["id"])

    def change(self, model: str, crm_id: str, **fields: object) -> None:
        self._send("PUT", f"/{model}/{crm_id}", fields)

    def press(self, model: str, crm_id: str, button: str) -> None:
        """What a person does with a button, such as "lost"."""
        url = f"{self.base_url}/{model}/{crm_id}/{button}"
        answer = requests.post(url, json={}, headers=dict(self.headers), timeout=PATIENCE)
        assert answer.ok, (button, answer.status_code, answer.text[:300])

    def delete(self, model: str, crm_id: str) -> None:
        url = f"{self.base_url}/{model}/{crm_id}"
        answer = requests.delete(url, headers=dict(self.headers), timeout=PATIENCE)
        assert answer.ok, (answer.status_code, answer.text[:300])

    def standing_installation(self) -> UUID | None:
        """Whose sentinels stand here."""
        rows = self.search("party.party", ["name", "like", "intake-sentinel-contact %"], fields=("name",))
        named = [found for row in rows if (found := UUID_IN_TEXT.search(str(row["name"])))]
        return UUID(named[0][0]) if named else None

    def _send(self, method: str, path: str, fields: Mapping[str, object]) -> Row:
        url = self.base_url + path
        answer = requests.request(method, url, json=dict(fields), headers=dict(self.headers), timeout=PATIENCE)
        assert answer.ok, (method, path, answer.status_code, answer.text[:300])
        return _mapping(answer.json())


def _mapping(value: object) -> Row:
    assert isinstance(value, dict)
    return value


def server() -> Server:
    """The running Tryton; without it the test is not run, and says why."""
    state = HOME / "tryton" / "state.json"
    if not state.is_file():
        pytest.skip(f"not run: there is no tryton ({state} is missing)")
    told = json.loads(state.read_text("utf-8"))
    people = told["employees"]
    found = Server(told["base_url"], told["headers"], told["company"], str(people["alice"]), str(people["bob"]))
    try:
        found.search("sale.opportunity", ["id", "=", 0])
    except requests.ConnectionError:
        pytest.skip(f"not run: tryton does not answer at {found.base_url}")
    return found
