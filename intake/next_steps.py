"""What happens next where a state and a reason together ask for another step than the state alone.

Each names a command that leads on, if only a person can.  A reason that ends in `*` covers all that begin with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Text

# What holds a delivery from outside, whatever its state says.
HELD: Mapping[str, Text] = {
    "source_paused": Text(
        "Una persona puso su fuente en pausa: se recibe y no se entrega hasta `intake resume {source}`.",
        "A person paused its source: it is received, and not delivered before `intake resume {source}`."),
    "account_paused": Text(
        "La cuenta del CRM «{destination}» está en pausa: sigue sola cuando funcione, o con `intake resume "
        "{destination}` si la pausó una persona.",
        "The CRM account “{destination}” is paused: it goes on by itself once that works, or with `intake resume "
        "{destination}` if a person paused it."),
    "destination_missing": Text(
        "Su destino «{destination}» ya no está en la configuración, o está cerrado: nadie lo entrega hasta que vuelva.",
        "Its destination “{destination}” is no longer configured, or is closed: nobody delivers it before it is back."),
}  # fmt: skip

# What is due at a time that is still to come.
DUE = Text("{then} Le toca a las {time}.", "{then} It is due at {time}.")
LOOK = Text("{then} La próxima búsqueda es a las {time}.", "{then} It is looked for next at {time}.")
DEBOUNCE = Text(
    "Se espera hasta las {time}, para que lo que la persona escriba enseguida vaya en el mismo texto.",
    "We wait until {time}, so that what the person writes right after goes into the same text.")  # fmt: skip

_REVIVE = Text(
    "Nada hasta que alguien lo reviva (`intake revive`) cuando la causa esté resuelta.",
    "Nothing until somebody revives it (`intake revive`) once its cause is mended.")  # fmt: skip
_CORRECT = Text(
    "Nada hasta que alguien corrija los campos (`intake correct`) o lo cancele.",
    "Nothing until somebody corrects the fields (`intake correct`) or cancels it.")  # fmt: skip
_REDELIVER = Text(
    "Nada hasta que alguien lo restaure en el CRM y lo reviva (`intake revive`), o pida crearlo de nuevo "
    "(`intake redeliver`).",
    "Nothing until somebody restores it in the CRM and revives it (`intake revive`), or has it made anew "
    "(`intake redeliver`).")  # fmt: skip
_CONTACT = Text(
    "Nada hasta que alguien diga qué contacto es (`intake settle … contact --crm-id`).",
    "Nothing until somebody says which contact it is (`intake settle … contact --crm-id`).")  # fmt: skip
_NEW = Text(
    "Nada hasta que alguien abra otra oportunidad (`intake settle … new`), reviva el mensaje que la abría, o lo "
    "cancele.",
    "Nothing until somebody opens another opportunity (`intake settle … new`), revives the message that should open "
    "it, or cancels this one.")  # fmt: skip
_APPROVE = Text(
    "Nada hasta que alguien lo apruebe (`intake approve`) o lo rechace (`intake decline`).",
    "Nothing until somebody approves it (`intake approve`) or declines it (`intake decline`).")  # fmt: skip

THEN: Mapping[tuple[str, str], Text] = {
    ("awaiting_approval", "approval_required"): _APPROVE,
    ("awaiting_approval", "approval_expired"): _APPROVE,
    ("awaiting_approval", "corrected"): _APPROVE,
    ("awaiting_approval", "content_came"): _APPROVE,
    ("awaiting_approval", "held_as_spam"): Text(
        "Nada hasta que alguien lo apruebe (`intake approve`) o confirme que es spam (`intake spam`).",
        "Nothing until somebody approves it (`intake approve`) or confirms that it is spam (`intake spam`)."),
    ("awaiting_approval", "held_*"): Text(
        "Nada hasta que alguien lo apruebe (`intake approve`) o diga que es spam (`intake spam`).",
        "Nothing until somebody approves it (`intake approve`) or says that it is spam (`intake spam`)."),
    ("waiting", "fetch_parked"): Text(
        "Sigue solo cuando su fuente tenga un page_token que sirva (renuévelo y reinicie); se prueba cada minuto.",
        "It goes on by itself once its source has a page_token that works (renew it, and restart); it is tried every "
        "minute."),
    ("review", "lead_gone"): Text(
        "Nada hasta que alguien escriba sus datos a mano (`intake correct`), lo reviva o lo cancele.",
        "Nothing until somebody types its details in (`intake correct`), revives or cancels it."),
    ("review", "fetch_used_up"): Text(
        "Nada hasta que alguien lo reviva (`intake revive`), escriba sus datos (`intake correct`) o lo cancele.",
        "Nothing until somebody revives it (`intake revive`), types its details in (`intake correct`) or cancels it."),
    ("waiting", "no_control"): Text(
        "Se entrega cuando alguien cree el registro testigo; se pregunta cada medio minuto.",
        "It is delivered once somebody makes the sentinel; this is asked every half minute."),
    ("waiting", "account_paused"): Text(
        "Sigue cuando la cuenta responda a la llamada de control, que se repite sola.",
        "It goes on once the account answers its control call, which is repeated by itself."),
    ("review", "validation"): _CORRECT,
    ("review", "budget_used_up"): Text(
        "Nada hasta que alguien lo reviva (`intake revive`) cuando el CRM funcione.",
        "Nothing until somebody revives it (`intake revive`) once the CRM works."),
    ("review", "several"): Text(
        "Nada hasta que alguien deje uno solo en el CRM y lo señale (`intake settle … applied --crm-id`).",
        "Nothing until somebody leaves one of them in the CRM and names it (`intake settle … applied --crm-id`)."),
    ("review", "looks_used_up"): Text(
        "Nada hasta que alguien mire en el CRM y diga si se aplicó (`intake settle … applied` o `not-applied`).",
        "Nothing until somebody looks in the CRM and says whether it was applied (`intake settle … applied` or "
        "`not-applied`)."),
    ("review", "duplicate_*"): Text(
        "Nada hasta que alguien señale el que existe, si es este (`intake settle … applied --crm-id … --unverified`), "
        "o corrija lo que se repite (`intake correct`).",
        "Nothing until somebody names the one that exists, if it is this (`intake settle … applied --crm-id … "
        "--unverified`), or corrects what is repeated (`intake correct`)."),
    ("review", "contact_ambiguous"): _CONTACT,
    ("review", "contact_other_name"): _CONTACT,
    ("review", "contact_gone"): Text(
        "Nada hasta que alguien diga qué contacto es (`intake settle … contact --crm-id`) o pida crearlo de nuevo "
        "(`intake redeliver`).",
        "Nothing until somebody says which contact it is (`intake settle … contact --crm-id`) or has it made anew "
        "(`intake redeliver`)."),
    ("review", "opportunity_gone"): Text(
        "Nada hasta que alguien la restaure en el CRM y lo reviva (`intake revive`), pida crearla de nuevo "
        "(`intake redeliver`) o, si es un mensaje de una conversación, abra otra (`intake settle … new`).",
        "Nothing until somebody restores it in the CRM and revives this (`intake revive`), has it made anew "
        "(`intake redeliver`) or, for a message of a conversation, opens another (`intake settle … new`)."),
    ("review", "task_gone"): _REDELIVER,
    ("review", "note_gone"): _REDELIVER,
    ("review", "gone"): _REDELIVER,
    ("review", "opportunity_closed"): Text(
        "Nada hasta que alguien elija: la nota de todos modos (`intake settle … note`), otra oportunidad "
        "(`intake settle … new`) o cancelarlo (`intake settle … cancel`).",
        "Nothing until somebody chooses: the note anyway (`intake settle … note`), another opportunity "
        "(`intake settle … new`), or to cancel it (`intake settle … cancel`)."),
    ("review", "opener_refused"): _NEW,
    ("review", "conversation_ambiguous"): Text(
        "Nada hasta que alguien deje una sola en el CRM y lo reviva (`intake revive`), o abra otra "
        "(`intake settle … new`).",
        "Nothing until somebody leaves one of them in the CRM and revives this (`intake revive`), or opens another "
        "(`intake settle … new`)."),
    ("review", "conversation_unlisted"): Text(
        "Nada hasta que alguien mire en el CRM: si no está, abra otra (`intake settle … new`); si está, cancele este.",
        "Nothing until somebody looks in the CRM: if it is not there, open another (`intake settle … new`); if it is, "
        "cancel this one."),
    ("review", "payload_purged"): Text(
        "Nada: solo queda cerrarlo (`intake settle … cancel`).", "Nothing: it can only be closed (`intake settle … "
        "cancel`)."),
    ("review", "internal_error"): _REVIVE,
    ("review", "bad_credential"): _REVIVE,
    ("review", "forbidden"): _REVIVE,
    ("review", "token_scope"): _REVIVE,
    ("review", "plan_limit"): _REVIVE,
    ("review", "account_closed"): _REVIVE,
    ("review", "locked"): _REVIVE,
    ("review", "record_locked"): _REVIVE,
}  # fmt: skip


def next_step(state: str, reason: str) -> Text | None:
    """The step of this state and reason, None: the state's own."""
    exact = THEN.get((state, reason))
    if exact is not None:
        return exact
    beginnings = (key for key in THEN if key[1].endswith("*"))
    return next((THEN[key] for key in beginnings if key[0] == state and reason.startswith(key[1][:-1])), None)
