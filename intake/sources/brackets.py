"""PHP's names for nested fields in a flat form: `a[b]=1&c[]=2&c[]=3` is {"a": {"b": "1"}, "c": ["2", "3"]}.

Source: php.net, "Variables From External Sources", HTML forms.
"""

from __future__ import annotations

import re

from intake.sources.decoding import Json

NESTED = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])+)")
# Elementor's `fields[x][title]` has two; more is nobody's form.
MAX_BRACKETS = 8


def nested(fields: dict[str, Json]) -> dict[str, Json]:
    """The fields as their names say.  A name that is at odds with another one stays flat: nothing is dropped."""
    root: dict[str, Json] = {}
    for name, value in fields.items():
        match = NESTED.fullmatch(name)
        path = [match[1], *re.findall(r"\[([^\[\]]*)\]", match[2])] if match else [name]
        if len(path) > MAX_BRACKETS + 1 or not _put(root, path, value):
            root[name] = value
    return {name: _lists(value) for name, value in root.items()}


def _put(members: dict[str, Json], path: list[str], value: Json) -> bool:
    """False: something else stands there already."""
    for name in path[:-1]:
        inner = members.setdefault(name, {})
        if not isinstance(inner, dict):
            return False
        members = inner
    last = path[-1] or str(len(members))
    if last in members:
        return False
    # `c[]` repeated came as one name with several values: they are the list's members.
    if path[-1] == "" and isinstance(value, list):
        members.update({str(len(members) + index): item for index, item in enumerate(value)})
        return True
    members[last] = value
    return True


def _lists(value: Json) -> Json:
    """Members that are counted from 0 are a list."""
    if not isinstance(value, dict):
        return value
    inner = {name: _lists(item) for name, item in value.items()}
    if inner and list(inner) == [str(index) for index in range(len(inner))]:
        return list(inner.values())
    return inner
