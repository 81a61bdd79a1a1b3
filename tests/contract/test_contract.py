"""What every CRM client promises, whichever CRM it speaks to.

A new client is a line in the registry and a folder of recordings, and this whole suite runs on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from crm_clients.base import (
    Absent,
    Client,
    ContactDraft,
    Draft,
    Kind,
)
from crm_clients.registry import CLIENTS
from tests.contract.asking import names_in, said
from tests.contract.built import built
from tests.contract.drafts import emptiest, longest, ordinary
from tests.contract.record import About, meaning
from tests.contract.recordings import Recording, described, recordings_of

REFERENCE = "c-0123456789abcdef-opportunity"
NAMES = sorted(CLIENTS)
RECORDINGS = [recording for name in NAMES for recording in recordings_of(name)]
# What CRMs call the owner and the stage of an opportunity.
OWNERS_AND_STAGES = {
    *(
        "owner",
        "owner_id",
        "ownerId",
        "OwnerId",
        "Owner",
        "hubspot_owner_id",
        "assigned_to",
        "assignedById",
        "employee",
    ),
    *("assignedUserId", "responsible_user_id", "user_id", "fk_user", "userownerid", "stage", "stage_id", "stageId"),
    *("Stage", "StageName", "dealstage", "pipeline", "pipeline_id", "Pipeline", "status_id", "opp_status", "state"),
}
MAKERS: tuple[Callable[[Kind], Draft], ...] = (ordinary, emptiest, longest)

each_client = pytest.mark.parametrize("client", [built(name) for name in NAMES], ids=NAMES)
each_kind = pytest.mark.parametrize("kind", list(Kind))
each_draft = pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])


@each_client
def test_a_client_knows_its_own_name(client: Client) -> None:
    assert client.name in CLIENTS


@each_client
def test_a_client_that_is_built_twice_is_the_same_client(client: Client) -> None:
    assert built(client.name) == client


# --- recorded answers --------------------------------------------------------------------------------------------


@each_client
@each_kind
@pytest.mark.parametrize(
    "needed", ["create", "create-again", "find-none", "find-one", "find-after", "read", "read-none"]
)
def test_a_client_has_recordings_of_each_kind(client: Client, kind: Kind, needed: str) -> None:
    assert f"{kind}-{needed}" in {recording.name for recording in recordings_of(client.name)}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: f"{each.client}-{each.name}")
def test_a_recorded_answer_means_what_is_written_beside_it(recording: Recording) -> None:
    client = built(recording.client)
    about = About(recording.kind, recording.reference, recording.crm_id)
    assert described(meaning(client, recording.step, about, recording.response)) == recording.means


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: f"{each.client}-{each.name}")
def test_a_recording_says_where_it_is_from_and_holds_no_credential(recording: Recording) -> None:
    assert recording.source
    assert "Bearer" not in json.dumps(dict(recording.headers)) + recording.body
    assert "bcrm_pat_" not in recording.body


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if each.name.endswith("find-one")], ids=lambda e: f"{e.client}-{e.name}"
)
@pytest.mark.parametrize(
    "change", [lambda ref: f"{ref}x", str.upper, lambda ref: ref[:-1]], ids=["longer", "case", "cut"]
)
def test_a_record_of_another_reference_is_not_ours(recording: Recording, change: Callable[[str], str]) -> None:
    client = built(recording.client)
    assert client.found(recording.kind, change(recording.reference), recording.response) == Absent()


# --- requests ----------------------------------------------------------------------------------------------------


@each_client
@each_kind
@each_draft
def test_the_same_draft_gives_the_same_request(client: Client, kind: Kind, make: Callable[[Kind], Draft]) -> None:
    again = built(client.name)
    assert client.create(make(kind), REFERENCE) == again.create(make(kind), REFERENCE)


@each_client
@each_kind
@each_draft
def test_a_create_sends_json_below_the_base_url(client: Client, kind: Kind, make: Callable[[Kind], Draft]) -> None:
    request = client.create(make(kind), REFERENCE)
    assert request.method in {"POST", "PATCH", "PUT"}
    assert request.path.startswith("/")
    assert not request.path.startswith("//")
    assert isinstance(json.loads(request.body or b""), dict | list)


@each_client
@each_kind
@each_draft
def test_a_create_bears_the_reference(client: Client, kind: Kind, make: Callable[[Kind], Draft]) -> None:
    assert REFERENCE in said(client.create(make(kind), REFERENCE))


@each_client
@each_kind
def test_a_look_asks_for_the_reference_or_for_the_parent_s_children(client: Client, kind: Kind) -> None:
    request = client.find(kind, REFERENCE, parent_id="p-1")
    sought = "p-1" if client.capability(kind).reference == "marker" else REFERENCE
    assert request.method in {"GET", "POST"}  # some CRMs take a filter in the body only
    assert sought in said(request)


@each_client
@each_kind
def test_no_request_shows_a_person_in_its_repr(client: Client, kind: Kind) -> None:
    draft = ordinary(kind)
    shown = repr([client.create(draft, REFERENCE), *(client.matches(draft) if isinstance(draft, ContactDraft) else ())])
    for private in ("Rosa", "987654321", "example.com", "bomba", "demora"):
        assert private not in shown


@each_client
@each_kind
def test_an_id_cannot_leave_its_place_in_a_path(client: Client, kind: Kind) -> None:
    request = client.read(kind, "../../admin?x=1#")
    assert "?" not in request.path
    assert "#" not in request.path
    assert "/../" not in request.path


@each_client
@each_kind
def test_a_sentinel_is_a_draft_like_another_and_carries_the_installation(client: Client, kind: Kind) -> None:
    request = client.create(client.sentinel(kind, "installation-1", parent_id="p-1"), f"intake-sentinel-{kind}")
    assert "installation-1" in (request.body or b"").decode()


@each_client
def test_a_contact_without_phone_and_email_is_matched_with_nobody(client: Client) -> None:
    assert client.matches(ContactDraft("Rosa Quispe")) == ()


@each_client
def test_an_opportunity_is_updated_in_part_and_keeps_owner_and_stage(client: Client) -> None:
    request = client.update(Kind.OPPORTUNITY, "o-1", {"title": "Bomba", "text": "x", "amount": "5", "currency": "USD"})
    assert not OWNERS_AND_STAGES & names_in(request)


PHONES = ("+51987650001", "+51912340002")


@each_client
def test_a_contact_s_number_is_changed_alone_or_not_at_all(client: Client) -> None:
    changes = {"phone": PHONES[1]}
    if not client.capability(Kind.CONTACT).changes_phone:
        with pytest.raises(ValueError, match="phone"):
            client.update(Kind.CONTACT, "41", changes)
        return
    request = client.update(Kind.CONTACT, "41", changes)
    assert PHONES[1] in said(request)
    assert not OWNERS_AND_STAGES & names_in(request)


@each_client
def test_only_contacts_have_a_number_to_change(client: Client) -> None:
    assert not any(client.capability(kind).changes_phone for kind in Kind if kind is not Kind.CONTACT)
