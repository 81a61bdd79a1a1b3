"""What belongs to an event: what came with it, what says almost the same, and who else has its telephone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from intake.config import ContactRule
from intake.desk import kin, shared_phones
from intake.desk.kin import is_alike
from intake.ops import event
from tests.integration.desk.conftest import Scene
from tests.lab import Lab


def related(lab: Lab, event_id: UUID) -> dict[UUID, str]:
    with lab.pool.connection() as conn:
        found = event(conn, event_id)
        assert found is not None
        return {each.event_id: each.how for each in kin.relatives(conn, lab.settings, found)}


def person(lab: Lab) -> dict[str, str]:
    """Somebody whom no other test knows."""
    number = next(lab.counter)
    return {"name": "Sara Repetida", "email": f"sara{number}@example.com", "phone": f"9520{number:05}"}


def delivered(lab: Lab, *answers: dict[str, str]) -> list[UUID]:
    events = [lab.form(**each) for each in answers]
    lab.work()
    return events


# --- almost the same --------------------------------------------------------------------------------------------------


def test_what_is_almost_the_same_is_linked_on_both_sides(scene: Scene) -> None:
    sara = person(scene.lab)
    first, second = delivered(
        scene.lab, sara | {"message": "Quiero veinte sillas para mi oficina"},
        sara | {"message": "QUIERO veinte sillas, para mi oficina!"},
    )  # fmt: skip
    assert related(scene.lab, first)[second] == related(scene.lab, second)[first] == "twin"
    page = scene.desk.person("viewer").page(f"/console/events/{first}")
    assert "casi lo mismo muy cerca" in page
    assert "sillas" not in page


def test_a_form_and_a_message_of_one_person_within_minutes_are_linked(scene: Scene) -> None:
    sara = person(scene.lab)
    (form,) = delivered(scene.lab, sara | {"message": "Veinte sillas"})
    (message,) = scene.lab.whatsapp("Acabo de escribir", sender=f"51{sara['phone']}")
    scene.lab.work()
    assert related(scene.lab, form)[message] == related(scene.lab, message)[form] == "twin"


def test_another_wish_of_the_same_person_is_no_twin(scene: Scene) -> None:
    sara = person(scene.lab)
    first, second = delivered(scene.lab, sara | {"message": "Veinte sillas"}, sara | {"message": "Un armario blanco"})
    assert related(scene.lab, first)[second] == "contact"


def test_the_same_hours_later_is_no_twin(scene: Scene) -> None:
    sara = person(scene.lab)
    first, second = delivered(scene.lab, sara, sara | {"product": "", "message": "Hola!"})
    with scene.lab.pool.connection() as conn:
        conn.execute("ALTER TABLE events DISABLE TRIGGER immutable")
        conn.execute(
            "UPDATE events SET received_at = received_at - interval '2 hours' WHERE event_id = %(id)s", {"id": first}
        )
        conn.execute("ALTER TABLE events ENABLE TRIGGER immutable")
    assert related(scene.lab, first)[second] == "contact"


def test_the_same_words_of_somebody_else_are_no_twin(scene: Scene) -> None:
    first, second = delivered(scene.lab, person(scene.lab), person(scene.lab))
    assert second not in related(scene.lab, first)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Quiero 20 sillas", "quiero 20 SILLAS.", True),
        ("Información del salón", "Informacion del salon", True),
        ("uno dos tres cuatro cinco", "uno dos tres cuatro seis", True),
        ("Quiero 20 sillas", "Quiero 20 mesas", False),
        ("", "Hola", False),
        ("", "", True),
    ],
)
def test_almost_the_same_is_a_matter_of_words(one: str, other: str, *, alike: bool) -> None:
    assert is_alike(one, other) is alike


# --- what came with it ------------------------------------------------------------------------------------------------


def test_what_came_in_one_delivery_is_linked(scene: Scene) -> None:
    senders = [f"5195300{next(scene.lab.counter):04}" for _ in range(2)]
    messages = [
        {"from": sender, "id": f"wamid.{sender}", "timestamp": "1790000000", "type": "text", "text": {"body": "Hola"}}
        for sender in senders
    ]
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"},
        "contacts": [{"profile": {"name": "Alguien"}, "wa_id": sender} for sender in senders],
        "messages": messages,
    }
    entry = {"id": "1", "changes": [{"field": "messages", "value": value}]}
    answer = scene.lab.post("wa", json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode())
    first, second = (UUID(each["event_id"]) for each in answer.get_json()["events"])
    assert related(scene.lab, first) == {second: "batch"}


def test_what_was_said_earlier_in_a_conversation_is_linked(scene: Scene) -> None:
    sender = f"5195400{next(scene.lab.counter):04}"
    (first,) = scene.lab.whatsapp("Hola", sender=sender)
    (later,) = scene.lab.whatsapp("Otra cosa", sender=sender, at=1_790_000_000 + 90_000)
    assert related(scene.lab, later) == {first: "talk"}


def test_the_api_tells_what_belongs_to_an_event(scene: Scene) -> None:
    sara = person(scene.lab)
    first, second = delivered(scene.lab, sara, sara | {"message": "Hola."})
    told = scene.desk.stranger().get(f"/api/v1/events/{first}", headers=scene.desk.token("viewer", "read")).get_json()
    assert [(each["event_id"], each["how"]) for each in told["related"]] == [(str(second), "twin")]


# --- one telephone, two names -----------------------------------------------------------------------------------------


@pytest.fixture
def asking(scene: Scene) -> Iterator[None]:
    """Whoever has another's telephone waits for a person."""
    before = scene.lab.desk
    crm = before.wired["crm"]
    asked = replace(crm, destination=replace(crm.destination, contacts=ContactRule("review", "review")))
    scene.lab.desk = replace(before, wired={**before.wired, "crm": asked})
    yield
    scene.lab.desk = before


@pytest.fixture
def two(scene: Scene, asking: None) -> tuple[UUID, UUID]:
    """Two people of one telephone, the second of whom waits for a person."""
    del asking
    phone = f"9550{next(scene.lab.counter):05}"
    first, second = delivered(
        scene.lab, {"name": "Jorge Compartido", "email": f"jorge{phone}@example.com", "phone": phone},
        {"name": "Elisa Distinta", "email": "", "phone": phone},
    )  # fmt: skip
    return first, second


def test_one_telephone_with_two_names_is_shown_masked(scene: Scene, two: tuple[UUID, UUID]) -> None:
    page = scene.desk.person("viewer").page(f"/console/events/{two[1]}")
    assert "Este teléfono, otro nombre" in page
    assert "<strong>J. C.</strong>" in page
    assert "Compartido" not in page


def test_the_names_are_shown_on_demand_and_noted_for_each_event(scene: Scene, two: tuple[UUID, UUID]) -> None:
    page = scene.desk.person("operator").post(f"/console/events/{two[1]}/data").get_data(as_text=True)
    assert "<strong>Jorge Compartido</strong>" in page
    seen = scene.lab.rows(
        "SELECT event_id FROM access_log WHERE operator = 'operator' AND event_id = %(id)s", id=two[0]
    )
    assert seen


def test_the_contact_that_it_leads_to_is_chosen_by_one_link(scene: Scene, two: tuple[UUID, UUID]) -> None:
    operator = scene.desk.person("operator")
    with scene.lab.pool.connection() as conn:
        found = event(conn, two[1])
        assert found is not None
        (known,) = (each for each in shared_phones.namesakes(conn, found) if not each.is_own)
    (crm_id,) = known.crm_ids
    link = f"/console/events/{two[1]}/settle-contact?crm_id={crm_id}"
    assert link in operator.page(f"/console/events/{two[1]}")
    assert f'value="{crm_id}"' in operator.page(link)


def test_who_is_asked_later_sees_the_names_beside_the_question(scene: Scene) -> None:
    phone = f"9560{next(scene.lab.counter):05}"
    delivered(
        scene.lab, {"name": "Jorge Compartido", "email": f"jorge{phone}@example.com", "phone": phone},
        {"name": "Elisa Distinta", "email": "", "phone": phone},
    )  # fmt: skip
    (row,) = scene.lab.rows("SELECT max(item_id) AS item_id FROM items WHERE reason = 'contact_other_name'")
    page = scene.desk.person("viewer").page(f"/console/items/{row['item_id']}")
    assert "<strong>J. C.</strong>" in page
    assert "<strong>E. D.</strong>" in page


def test_one_name_written_in_two_ways_is_one(scene: Scene) -> None:
    sara = person(scene.lab)
    first, _ = delivered(scene.lab, sara, sara | {"name": "Repetida, Sara", "message": "Otra cosa"})
    assert "otro nombre" not in scene.desk.person("viewer").page(f"/console/events/{first}")
