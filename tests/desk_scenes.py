"""A morning at the desk: one event of each kind that a person may meet there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from intake import bulk
from intake.decided import Author
from tests.lab import Lab

# A name that would run, were it shown as it stands.
SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://example.com")'

CONFIRMED = (
    ("Carmen Ejemplo", "carmen@example.com", "951000001"),
    ("Iván Muestra", "ivan@example.org", "951000002"),
    ("Nora Ficticia", "nora@example.net", "951000003"),
    ("Hugo Inventado", "hugo@example.com", "951000004"),
)


@dataclass(frozen=True, slots=True)
class Day:
    """Events and items by what they show."""

    confirmed: UUID
    review: UUID
    uncertain: UUID
    script: UUID
    talk: UUID
    conflict_item: int
    quarantine_item: int
    run: int


def day(lab: Lab) -> Day:
    """Let it happen."""
    confirmed = [lab.form(name=name, email=mail, phone=phone) for name, mail, phone in CONFIRMED]
    script = lab.form(name=SCRIPT, email="guion@example.com", phone="951000009", message=FORMULA)
    talk = lab.whatsapp("Hola, ¿tienen sillas de oficina?", "Necesito veinte para marzo")
    lab.quote(number="COT-204", amount="1840.00")
    lab.work()
    uncertain = _uncertain(lab)
    review = _review(lab)
    _conflict(lab)
    lab.post("web", b"[1, 2")
    _refused(lab)
    _later(lab, lab.form(name="Olga Reciente", email="olga@example.com", phone="951000012"))
    items = {
        str(row["kind"]): int(str(row["item_id"])) for row in lab.rows("SELECT kind, item_id FROM items ORDER BY 2")
    }
    return Day(confirmed[0], review, uncertain, script, talk[0], items["conflict"], items["quarantine"], _run(lab))


def _run(lab: Lab) -> int:
    """One decision about many, which none of them allowed: what is in doubt is not tried again."""
    with lab.pool.connection() as conn:
        author = Author("approver", "el CRM ya responde")
        bulk_id = bulk.begin(conn, author, "revive", bulk.Filter(state="uncertain"))
        while bulk.step(conn, lab.settings, bulk_id=bulk_id):
            pass
    return bulk_id


LATER = "UPDATE deliveries SET due_at = clock_timestamp() + interval '1 day' WHERE event_id = %(event_id)s"


def _later(lab: Lab, event_id: UUID) -> None:
    """It stays on its way, whatever the workers do."""
    with lab.pool.connection() as conn:
        conn.execute(LATER, {"event_id": event_id})


def _uncertain(lab: Lab) -> UUID:
    """Its opportunity may stand in the CRM."""
    lab.lose("opportunity")
    event_id = lab.form(name="Tomás Dudoso", email="tomas@example.com", phone="951000010")
    lab.work()
    lab.dials.no_faults()
    return event_id


def _review(lab: Lab) -> UUID:
    """The CRM refused its contact."""
    lab.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1, fields={"email": "is not valid"})
    event_id = lab.form(
        name="Rita Corregible", email="rita@example.com", phone="951000011", message="Precio de la mesa"
    )
    lab.work()
    lab.dials.no_faults()
    return event_id


def _conflict(lab: Lab) -> None:
    """The same delivery again, with another amount."""
    lead = {"name": "Lía Distinta", "email": "lia@example.com", "phone": "951000013", "message": "Diez sillas"}
    lab.post("web", json.dumps(lead).encode(), delivery_id="msg_again")
    lab.work()
    lab.post("web", json.dumps(lead | {"message": "Doce sillas, y dos mesas"}).encode(), delivery_id="msg_again")


REFUSE = (
    "INSERT INTO refusals (source, reason, hour, count) VALUES (%(source)s, %(reason)s, clock_timestamp(), %(count)s)"
)


def _refused(lab: Lab) -> None:
    with lab.pool.connection() as conn:
        for source, reason, count in (("web", "not_authentic", 3), ("", "unknown_source", 41)):
            conn.execute(REFUSE, {"source": source, "reason": reason, "count": count})
