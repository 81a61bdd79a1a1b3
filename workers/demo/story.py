"""The story of the demonstration.  Who reads this file knows what the product does.

Three ways in (a web form, a WhatsApp number, a quoting program), one CRM, and everything that goes wrong on the way:
senders repeat themselves, people write twice, and the CRM loses answers, refuses, and asks to be left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from intake.explain_texts import Text
from intake.identity import event_id, need_reference
from workers.demo.bodies import form, quote, whatsapp
from workers.demo.scenario import InCrm, Json, Scenario, Send

WEB, WHATSAPP, QUOTES = "web-contact", "wa-ventas", "cotizaciones"

# What one lead becomes.
ONE = InCrm(contacts=1, opportunities=1, tasks=1)


def story(now: datetime) -> tuple[Scenario, ...]:
    """All scenarios, in the order in which they are sent."""
    return (*senders(), *crm(), *conversations(now))


# --- what senders do --------------------------------------------------------------------------------------------------


def senders() -> Iterator[Scenario]:
    """Repeats, forgeries, tests, and people who write twice."""
    yield Scenario(
        title=Text("Un formulario", "A form"),
        sends=(
            Send(
                WEB, form("Ana Quispe", "987 010 101", "ana.quispe@example.com", "¿Tienen sillas?"), delivery_id="msg_1"
            ),
        ),
        states=("confirmed",),
        in_crm=ONE,
        told=Text(
            "Un contacto, una oportunidad y una tarea para el asesor.",
            "One contact, one opportunity, and one task for an adviser.",
        ),
    )
    twice = form("Bruno Salas", "987 010 102", "bruno.salas@example.com", "Quiero diez escritorios")
    yield Scenario(
        title=Text("El mismo envío dos veces a la vez", "The same delivery twice at once"),
        sends=(Send(WEB, twice, ("new", "duplicate"), delivery_id="msg_2", at_once=2),),
        states=("confirmed",),
        in_crm=ONE,
        told=Text(
            "Las dos respuestas fueron 200 con el mismo event_id, y una dice “duplicate”: se entrega una sola vez.",
            "Both were answered 200 with the same event_id, one of them as a duplicate: it is delivered once.",
        ),
    )
    yield Scenario(
        title=Text("Dos formularios de una persona", "Two forms of one person"),
        sends=(
            Send(WEB, form("Carla Rojas", "987010103", "carla.rojas@example.com", "Una mesa"), delivery_id="msg_3a"),
            Send(WEB, form("Carla Rojas", "+51 987-010-103", "", "Y un estante"), delivery_id="msg_3b"),
        ),
        states=("confirmed", "confirmed"),
        in_crm=InCrm(contacts=1, opportunities=2, tasks=2),
        told=Text(
            "El teléfono está escrito de dos maneras y es una persona: un contacto. Dos pedidos: dos oportunidades.",
            "The phone is written in two ways and is one person: one contact. Two wishes: two opportunities.",
        ),
    )
    first, second = ("Necesito 20 pizarras", "Necesito 200 pizarras")
    yield Scenario(
        title=Text("La misma clave con otro contenido", "The same key with other content"),
        sends=(
            Send(WEB, form("Dora Lazo", "987 010 104", "dora.lazo@example.com", first), delivery_id="msg_4"),
            Send(WEB, form("Dora Lazo", "987 010 104", "dora.lazo@example.com", second), ("conflict",), "msg_4"),
        ),
        states=("confirmed",),
        in_crm=ONE,
        shows=(first,),
        hides=(second,),
        items=("conflict",),
        told=Text(
            "Se guardaron los dos contenidos, no se sobrescribió nada, y una persona decide cuál vale.",
            "Both contents are kept, nothing was overwritten, and a person decides which one counts.",
        ),
    )
    tested = form("Elena Ríos", "987 010 105", "elena.rios@example.com", "Probando el formulario")
    yield Scenario(
        title=Text("El mismo envío, ahora como prueba", "The same delivery, now as a test"),
        sends=(
            Send(WEB, tested, delivery_id="msg_5"),
            Send(WEB, tested, delivery_id="msg_5", mode="test", later=True),
        ),
        states=("confirmed", "confirmed"),
        in_crm=InCrm(contacts=2, opportunities=2, tasks=2),
        told=Text(
            "Una prueba nunca es repetición de un envío real: tiene sus propios registros (t-…), y va a la cuenta de "
            "pruebas, que aquí es el mismo CRM de juguete.",
            "A test is never a repeat of a live delivery: it has records of its own (t-…), and goes to the account "
            "for tests, which is the same toy CRM here.",
        ),
    )
    forged = form("Nadie", "987 010 100", "nadie@example.com", "Firmado con otro secreto")
    yield Scenario(
        title=Text("Una firma falsa", "A forged signature"),
        sends=(Send(WEB, forged, ("refused",), delivery_id="msg_6", forged=True),),
        states=(),
        in_crm=InCrm(),
        told=Text("Se respondió 401 y no se guardó nada.", "It was answered 401, and nothing was stored."),
    )


# --- what the CRM does ------------------------------------------------------------------------------------------------


def crm() -> Iterator[Scenario]:
    """Answers that are lost, refusals, and a limit on requests."""
    yield Scenario(
        title=Text("El CRM escribe y su respuesta se pierde", "The CRM writes, and its answer is lost"),
        sends=(
            Send(
                WEB, form("Fidel Cano", "987 010 107", "fidel.cano@example.com", "Veinte carpas"), delivery_id="msg_7"
            ),
        ),
        dials=({"fault": "lost_answer", "match": create("opportunity", "Veinte carpas")},),
        states=("confirmed",),
        in_crm=ONE,
        told=Text(
            "En vez de repetir la escritura se la buscó por su referencia: estaba, y quedó confirmada. No hay doble.",
            "Instead of writing again it was looked up by its reference: there it was, confirmed. No double.",
        ),
    )
    wrong = "hugo@correo.invalid"
    yield Scenario(
        title=Text("El CRM lo rechaza por inválido", "The CRM refuses it as invalid"),
        sends=(Send(WEB, form("Hugo Paz", "987 010 108", wrong, "Un sofá"), delivery_id="msg_8"),),
        dials=(
            {
                "fault": "422",
                "match": create("contact", wrong),
                "times": None,
                "fields": {"email": "This domain does not exist."},
            },
        ),
        states=("review: validation",),
        in_crm=InCrm(),
        items=("delivery",),
        told=Text(
            "Repetir no ayudaría: espera a una persona, con el campo y la regla que el CRM nombró.",
            "Trying again would not help: it waits for a person, with the field and the rule that the CRM named.",
        ),
    )
    yield Scenario(
        title=Text("El CRM calla, y no se sabe si escribió", "The CRM falls silent, and may have written"),
        sends=(Send(WEB, form("Irma Soto", "987 010 109", "irma.soto@example.com", "Mil vasos"), delivery_id="msg_9"),),
        dials=(
            {"fault": "lost_answer", "match": create("opportunity", "Mil vasos")},
            # The look before the first create passes; from then on the CRM's search fails for this one record.
            {"fault": "503", "match": search("msg_9"), "skip": 1, "times": None},
        ),
        states=("uncertain",),
        in_crm=InCrm(contacts=1, opportunities=1),
        items=("delivery",),
        told=Text(
            "La respuesta se perdió y la búsqueda falla: nada prueba que falte, así que no se escribe otra vez. "
            "(Sí se había escrito: otro intento habría hecho un doble.)",
            "The answer was lost and the search fails: nothing proves it absent, so it is not written again. "
            "(It had been written: another try would have made a double.)",
        ),
    )
    yield Scenario(
        title=Text("El CRM pide bajar el ritmo", "The CRM asks to slow down"),
        sends=(
            Send(WEB, form("Julia Vega", "987 010 111", "julia.vega@example.com", "Dos bancas"), delivery_id="msg_10"),
        ),
        dials=({"fault": "429", "match": create("opportunity", "Dos bancas"), "retry_after": 1},),
        states=("confirmed",),
        in_crm=ONE,
        told=Text(
            "Respondió 429 con Retry-After: 1; se esperó y se siguió en el paso que faltaba.",
            "It answered 429 with Retry-After: 1; this was obeyed, and the step that was left taken.",
        ),
    )


def create(kind: str, text: str) -> Json:
    """The request that creates this lead's record, and no other's: known by a text in it."""
    return {"what": "create", "kind": kind, "contains": text}


def search(delivery_id: str) -> Json:
    """The search for this form's opportunity: its reference follows from the identity of the delivery alone."""
    event = event_id("live", WEB, delivery_id, None)
    return {
        "what": "find",
        "kind": "opportunity",
        "reference_prefix": need_reference("live", WEB, f"event:{event}"),
    }


# --- what belongs together --------------------------------------------------------------------------------------------


def conversations(now: datetime) -> Iterator[Scenario]:
    """Quotes that change, and a talk."""
    yield Scenario(
        title=Text("Una cotización en dos versiones", "A quote in two versions"),
        sends=(
            Send(QUOTES, quote("COT-0042", 1, now, 2, Decimal("410.00"))),
            Send(QUOTES, quote("COT-0042", 2, now, 3, Decimal("400.00")), later=True),
        ),
        states=("confirmed", "confirmed"),
        in_crm=ONE,
        shows=("1200.00",),
        hides=("820.00",),
        told=Text(
            "El número es la oportunidad: la segunda versión la actualizó, y solo donde nadie la había cambiado.",
            "The number is the opportunity: the second version updated it, and only where no person had changed it.",
        ),
    )
    texts = ("Hola", "Busco un ropero de dos puertas", "¿Hacen envíos a Cusco?")
    more = ("Lo quiero en blanco", "Y con espejo")
    person = ("Katia", "51987010112")
    yield Scenario(
        title=Text("Una conversación de WhatsApp", "A WhatsApp conversation"),
        sends=(
            Send(WHATSAPP, whatsapp(*person, texts, now), ("new", "new", "new")),
            Send(WHATSAPP, whatsapp(*person, more, now, first=len(texts)), ("new", "new"), later=True),
        ),
        states=("confirmed",) * 5,
        in_crm=InCrm(contacts=1, opportunities=1, tasks=1, notes=1),
        shows=(*texts, *more),
        told=Text(
            "Una conversación es una oportunidad: lo que sigue al «Hola» en segundos está en su texto, y lo que llegó "
            "después, en una sola nota.",
            "A conversation is one opportunity: what follows the “Hola” within seconds is in its text, and what came "
            "later in a single note.",
        ),
    )
