"""What is read from the sandbox CRM's own file, while it runs; and that a loss and a double are seen in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
import requests

from crm_clients.sandbox.server import Running, running
from workers.prove.chaos.evidence import collect
from workers.prove.chaos.letters import Json, form
from workers.prove.chaos.senders import Accepted
from workers.prove.chaos.verdict import Verdict, judge

EVENT = UUID(int=7)
(SAYING,) = form("prueba", 7).says


@dataclass(frozen=True, slots=True)
class Crm:
    """A sandbox whose file is read."""

    running: Running
    file: Path

    def create(self, kind: str, **fields: object) -> str:
        answer = self.call("POST", kind, fields)
        return str(answer["id"])

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        answer = requests.request(
            method, f"{self.running.url}/api/{path}", json=body, timeout=10,
            headers={"Authorization": f"Bearer {self.running.token}"},
        )  # fmt: skip
        answer.raise_for_status()
        found: Json = answer.json()
        return found

    def judged(self) -> Verdict:
        rows: list[Json] = [{"event_id": EVENT, "state": "confirmed"}]
        return judge([Accepted(EVENT, SAYING)], collect(rows, self.file))


@pytest.fixture
def crm(tmp_path: Path) -> Iterator[Crm]:
    """One that holds what a form makes, and a sentinel twice."""
    file = tmp_path / "sandbox.sqlite"
    with running(str(file)) as sandbox:
        made = Crm(sandbox, file)
        for _ in range(2):
            made.create("contacts", name="Sentinel", reference="intake-sentinel-contact")
        contact = made.create("contacts", name=SAYING.person, reference="p7-c")
        opportunity = made.create(
            "opportunities", contact_id=contact, title="Consulta", text=f"Hola, {SAYING.words}", reference="p7-o"
        )
        made.create("tasks", opportunity_id=opportunity, title="Llamar", reference="p7-t")
        yield made


def test_what_a_form_makes_is_confirmed(crm: Crm) -> None:
    assert crm.judged() == Verdict(accepted=1, confirmed=1, open=0)


def test_a_deleted_opportunity_is_a_loss(crm: Crm) -> None:
    (opportunity,) = [each.crm_id for each in collect([], crm.file).alive if each.kind == "opportunity"]
    crm.call("DELETE", f"opportunities/{opportunity}")
    assert crm.judged().lost == (f"event {EVENT}: what it says stands nowhere in the CRM",)


def test_a_second_create_under_a_reference_is_a_double(crm: Crm) -> None:
    crm.create("contacts", name="Otra persona", reference="p7-c")
    assert crm.judged().doubled == ("2 creates of contact p7-c",)
