"""Odoo's two protocols: one method of one model is called, and a value or an exception comes back.

- JSON-2, since 19.0: `POST /json/2/<model>/<method>`, arguments by name, the bare value with 200, an exception with a
  4xx or 5xx (https://www.odoo.com/documentation/19.0/developer/reference/external_api.html, read on 2026-11-29;
  `Json2Dispatcher.handle_error`).
- JSON-RPC, up to 21: `POST /jsonrpc`, `execute_kw` with database, user number and key in the body, always 200
  (seen on 17.0 and 11.0, 2026-11-29; to be removed in 22).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Account, Request, Response

FIRST_WITH_JSON2 = 19
HEADERS = (("Content-Type", "application/json"),)

# Where the key goes in a JSON-RPC body.  Our JSON is ASCII, so that no text of a lead can be it.
KEY_PLACE = '"\N{BLACK DIAMOND}key\N{BLACK DIAMOND}"'


@dataclass(frozen=True, slots=True)
class Value:
    """What the method returned."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that the method raised, by its full Python name.  Its transaction is discarded."""

    name: str
    message: str


Told = Value | Raised | None


@dataclass(frozen=True, slots=True)
class Wire:
    """How an Odoo of this version is called.  `database` None: the server has one, or knows it by the host's name.

    `user_id` is the number of the key's user, which JSON-RPC wants beside the key.
    """

    version: int = FIRST_WITH_JSON2
    database: str | None = None
    user_id: int | None = None

    @property
    def is_json2(self) -> bool:
        return self.version >= FIRST_WITH_JSON2

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """JSON-2 takes the key in a header, JSON-RPC in the body."""
        if not self.is_json2:
            return Account(name, base_url, places=((KEY_PLACE, json.dumps(credential)),))
        chosen = (("X-Odoo-Database", self.database),) if self.database else ()
        return Account(name, base_url, (("Authorization", f"bearer {credential}"), *chosen))

    def call(self, model: str, method: str, arguments: Mapping[str, object], ids: tuple[object, ...] = ()) -> Request:
        """Call a method, on these records if it is one of records."""
        if self.is_json2:
            body: dict[str, object] = ({"ids": list(ids)} if ids else {}) | dict(arguments)
            return Request("POST", f"/json/2/{model}/{method}", body=json.dumps(body).encode(), headers=HEADERS)
        args = [[list(ids)]] if ids else [[]]
        told = [json.dumps(each) for each in (self.database or "", self.user_id or 0)]
        asked = [json.dumps(each) for each in (model, method, *args, arguments)]
        params = f'{{"service":"object","method":"execute_kw","args":[{",".join([*told, KEY_PLACE, *asked])}]}}'
        envelope = f'{{"jsonrpc":"2.0","method":"call","id":1,"params":{params}}}'
        return Request("POST", "/jsonrpc", body=envelope.encode(), headers=HEADERS)

    def read(self, response: Response) -> Told:
        """What an answer tells; None: nothing, or it is not Odoo that answered."""
        return _json2(response) if self.is_json2 else _json_rpc(response)


def _json2(response: Response) -> Told:
    value = answers.json_value(response)
    if response.status == HTTPStatus.OK:
        return None if value is None else Value(value)
    body = answers.mapping(value)
    name, message = answers.text(body.get("name")), body.get("message")
    refused = HTTPStatus.BAD_REQUEST <= response.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if not refused or response.status == HTTPStatus.REQUEST_TIMEOUT or "." not in name:
        return None
    return Raised(name, answers.text(message)) if isinstance(message, str) else None


def _json_rpc(response: Response) -> Told:
    body = answers.json_object(response)
    if response.status != HTTPStatus.OK or body is None or body.get("jsonrpc") != "2.0":
        return None
    if "error" not in body:
        return Value(body.get("result"))
    data = answers.mapping(answers.mapping(body["error"]).get("data"))
    name = answers.text(data.get("name"))
    return Raised(name, answers.text(data.get("message"))) if name else None
