"""Plain calls to a sandbox in a test: no retries, no proxies, a connection each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import requests

from crm_clients.base import Request, Response

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls below /api.  `timeout` in seconds, for each byte waited for."""

    url: str
    token: str = "sandbox"
    timeout: float = 10.0

    def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            return session.request(
                method,
                f"{self.url}/api/{path}",
                json=body,
                headers={"Authorization": f"Bearer {self.token}", **(headers or {})},
                timeout=self.timeout,
                allow_redirects=False,
            )

    def create(self, plural: str, **fields: object) -> Json:
        """A record that the sandbox took."""
        answer = self.call("POST", plural, fields)
        assert answer.status_code == 201, answer.text
        return loaded(answer)

    def find(self, plural: str, query: str) -> list[Json]:
        answer = self.call("GET", f"{plural}?{query}")
        assert answer.status_code == 200, answer.text
        results = loaded(answer)["results"]
        assert isinstance(results, list)
        return results

    def contact(self, reference: str) -> str:
        """The id of a new contact."""
        return str(self.create("contacts", name="Eva Ejemplo", reference=reference)["id"])

    def opportunity(self, reference: str, **fields: object) -> str:
        """The id of a new opportunity of a new contact."""
        contact_id = self.contact(f"{reference}-c")
        made = self.create("opportunities", title="Cotización", contact_id=contact_id, reference=reference, **fields)
        return str(made["id"])

    def send(self, request: Request) -> Response:
        """A client's request, and its answer as clients read it."""
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(
                request.method,
                self.url + request.path,
                params=dict(request.query),
                data=request.body,
                headers={"Authorization": f"Bearer {self.token}", **dict(request.headers)},
                timeout=self.timeout,
                allow_redirects=False,
            )
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status_code, headers, answer.content)


def loaded(answer: requests.Response) -> Json:
    body: Json = json.loads(answer.content)
    return body
