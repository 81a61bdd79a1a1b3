"""The schemas of an OpenAPI document in words: what kind of value a field has, and what of it is optional."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.reference.markdown import code, codes, table

# A part of an OpenAPI document, which is JSON.
Part = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`",
    "object": "object", "null": "`null`",
}  # fmt: skip
FORMATS: Mapping[str, str] = {"uuid": "UUID", "date-time": "time, ISO 8601 with its zone"}


def asked(schema: Part) -> str:
    """The fields of a body; "" where it has none."""
    needed = schema.get("required", ())
    rows = (
        (code(name), values(each), "must be given" if name in needed else _default(each), each.get("description", ""))
        for name, each in schema.get("properties", {}).items()
    )
    return table(("field", "values", "default", "what it is"), rows)


def parameters(given: list[Part]) -> str:
    """The parameters of a route; "" where it has none."""
    rows = (
        (
            code(each["name"]), each["in"], values(each["schema"]),
            "must be given" if each["required"] else _default(each["schema"]), each.get("description", ""),
        )
        for each in given
    )  # fmt: skip
    return table(("parameter", "in", "values", "default", "what it is"), rows)


def answered(schema: Part) -> str:
    """The fields of an answer, all of which are in it."""
    rows = ((code(name), values(each), each.get("description", "")) for name, each in schema["properties"].items())
    return table(("field", "values", "what it is"), rows)


def named(schema: Part) -> Iterator[str]:
    """The names of the schemas that this one refers to."""
    for key, value in schema.items():
        if key == "$ref":
            yield _name(value)
        elif isinstance(value, dict):
            yield from named(value)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    yield from named(each)


def values(schema: Part) -> str:
    """What a field may hold, in words."""
    if "$ref" in schema:
        return f"[{_name(schema['$ref'])}](#{_name(schema['$ref']).lower()})"
    if "anyOf" in schema:
        return " or ".join(values(each) for each in schema["anyOf"])
    if "enum" in schema:
        return codes("null" if each is None else each for each in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(_kind(each, schema) for each in kinds) + _bounds(schema)


def _kind(kind: str, schema: Part) -> str:
    if kind == "array":
        return f"list of {values(schema['items'])}"
    if kind == "string":
        return FORMATS.get(schema.get("format", ""), KINDS[kind])
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"object, each value {values(schema['additionalProperties'])}"
    return KINDS[kind]


def _bounds(schema: Part) -> str:
    """How large or long a value may be; "": as it likes."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f", at least {least}"
    longest = schema.get("maxLength")
    return f" of at most {longest}{' characters' if 'string' in schema['type'] else ''}" if longest else ""


def _default(schema: Part) -> str:
    default = schema.get("default")
    if default is None or default == "":
        return ""
    return code(str(default).lower() if isinstance(default, bool) else default)


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]
