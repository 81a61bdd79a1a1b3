"""`docs/reference/settings.md`: every key of `intake.toml`, and every variable of the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import time
from typing import Final

from marshmallow import ValidationError
from marshmallow.fields import Field, List, Nested

from intake.config import explained, schema
from intake.config.explained import VARIABLES, Key
from intake.config.known import DELIVERED_FIELDS, LEAD_FIELDS, PLACEHOLDERS, PROVIDER_KINDS
from intake.config.secret import REFERENCE_RULE
from intake.config.settings import (
    Alerts,
    Assignment,
    ContactRule,
    Destination,
    OAuthRule,
    OwnerRule,
    Settings,
    Source,
    TaskRule,
)
from intake.config.template import Template
from intake.config.words import Word, WordMap, Words
from tests.reference.markdown import bullets, code, codes, page, table
from tests.reference.variables import reads


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the file: its heading, the form of its keys, their sentences, and the class with their defaults."""

    heading: str
    form: schema.Strict
    keys: Mapping[str, Key]
    defaults: type
    more: str = ""

    @property
    def fields(self) -> Mapping[str, Field[object]]:
        """By key; those that a source shares with the defaults are told there."""
        shared = schema.DefaultsSchema().fields if isinstance(self.form, schema.SourceSchema) else {}
        return {each.data_key or name: each for name, each in self.form.fields.items() if name not in shared}


_MORE: Final = "../configuration.md"
TABLES: Final = (
    Table("[intake]", schema.IntakeSchema(), explained.INTAKE, Settings, f"[More]({_MORE}#intake)."),
    Table("[alerts]", schema.AlertsSchema(), explained.ALERTS, Alerts, "[More](../alerts.md)."),
    Table("[[destinations]]", schema.DestinationSchema(), explained.DESTINATION, Destination,
          f"[More]({_MORE}#destinations)."),
    Table("[destinations.oauth]", schema.OAuthSchema(), explained.OAUTH, OAuthRule, f"[More]({_MORE}#oauth)."),
    Table("[destinations.owner]", schema.OwnerSchema(), explained.OWNER, OwnerRule),
    Table("[[destinations.owner.assign]]", schema.AssignmentSchema(), explained.ASSIGNMENT, Assignment),
    Table("[destinations.task]", schema.TaskSchema(), explained.TASK, TaskRule),
    Table("[destinations.contacts]", schema.ContactSchema(), explained.CONTACTS, ContactRule),
    Table("[[sources]]", schema.SourceSchema(), explained.SOURCE, Source, "All of `[defaults]` may stand here, too."),
    Table("[defaults]", schema.DefaultsSchema(), explained.DEFAULTS, Source, "A source overrides what stands here."),
)  # fmt: skip
WHERE: Final = """How these work together, where the file is, and what happens if something is wrong with it:
[configuration](../configuration.md)."""


def text() -> str:
    """The page."""
    return page(
        "Settings", WHERE, *(_section(each) for each in TABLES),
        "## Providers", table(("kind", "providers"), _providers()),
        "## Words", bullets(_words()),
        "## The environment", "An empty variable counts as unset.",
        table(("variable", "default", "what it is"), _variables()),
    )  # fmt: skip


def _section(of: Table) -> str:
    rows = ((code(key), values(key, of.fields[key]), _default(of, key), said.says) for key, said in of.keys.items())
    blocks = (f"## {of.heading}", of.more, table(("key", "values", "default", "what it is"), rows))
    return "\n\n".join(each for each in blocks if each)


# --- values ---------------------------------------------------------------------------------------------------------

# What no rule allows: a sign that no closed list and no address has, and one that no text may have.
PROBES: Final = ("?", "\x00")
KNOWN: Final = "; known are: "


def values(key: str, field: Field[object]) -> str:
    """What a key may hold, as a refusal of it says: the program's own words."""
    match field:
        case Nested() | List():
            return "a table of its own"
        case WordMap():
            return "a table"
        case Words():
            return f"a list: {values(key, field.element)}"
        case Word():
            return _rule(next(filter(None, (_refusal(field, probe) for probe in PROBES)), "a text"))
        case _:
            return _rule(_refusal(field, None) or key)


def _refusal(field: Field[object], value: object) -> str:
    """The rule that a value breaks; "": none."""
    try:
        field.deserialize([] if value is None else value)
    except ValidationError as wrong:
        return str(wrong.messages[0] if isinstance(wrong.messages, list) else wrong.messages)
    return ""


def _rule(said: str) -> str:
    if said == REFERENCE_RULE:
        return "`env:NAME` or `file:PATH`, where the secret is"
    if KNOWN in said:
        return codes(said.partition(KNOWN)[2].split(", "))
    return said.removeprefix("must be ").removeprefix("must have ")


def _default(of: Table, key: str) -> str:
    """What holds without it."""
    if of.fields[key].required:
        return "must be given"
    if of.keys[key].unset:
        return of.keys[key].unset
    field = next(each for each in fields(of.defaults) if each.name == key)
    made = field.default if field.default is not MISSING else None
    return "" if isinstance(made, OwnerRule | TaskRule | ContactRule) else _shown(made)


def _shown(value: object) -> str:
    match value:
        case None | () | "" | frozenset():
            return "none"
        case bool():
            return code(str(value).lower())
        case Template():
            return code(value.text)
        case tuple():
            return codes(value)
        case time():
            return code(value.strftime("%H:%M"))
        case _:
            return code(value)


# --- words ----------------------------------------------------------------------------------------------------------


def _providers() -> Iterator[tuple[str, str]]:
    for kind in ("form", "whatsapp", "quote"):
        yield code(kind), codes(sorted(name for name, kinds in PROVIDER_KINDS.items() if kind in kinds))


def _words() -> Iterator[str]:
    yield f"Fields of a lead: {codes(sorted(LEAD_FIELDS))}; any `utm_` word is one."
    yield f"What a destination's `fields` know besides: {codes(sorted(DELIVERED_FIELDS - LEAD_FIELDS))}."
    yield f"What a template may hold: {codes(f'{{{each}}}' for each in sorted(PLACEHOLDERS))}."


def _variables() -> Iterator[tuple[str, str, str]]:
    found = reads()
    for name, said in VARIABLES.items():
        yield code(name), said.unset or codes(sorted(found.get(name, ()))), said.says
