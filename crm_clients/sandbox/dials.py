"""A running sandbox's control plane from Python, for tests and the demonstration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import requests

Json = dict[str, object]

TIMEOUT = 15.0  # seconds; above the server's own wait for requests that it executes late


@dataclass(frozen=True, slots=True)
class Dials:
    """`url` as the ready line gives it.  Every method raises requests.RequestException if the sandbox does not obey."""

    url: str

    def fault(self, name: str, *, match: Mapping[str, str] | None = None, **how: object) -> None:
        """Add a rule; `how`: times, skip, seconds, effect, retry_after, retry_after_as, fields, cut_in."""
        self._call("POST", "faults", {"fault": name, "match": dict(match or {}), **how})

    def faults(self) -> list[Json]:
        return _list(self._call("GET", "faults"), "faults")

    def replace_faults(self, rules: Sequence[Mapping[str, object]]) -> None:
        self._call("PUT", "faults", [dict(rule) for rule in rules])

    def no_faults(self) -> None:
        self._call("DELETE", "faults")

    def ledger(self, *, since: int = 0) -> list[Json]:
        """The entries after `since`, in order."""
        return _list(self._call("GET", f"ledger?since={since}"), "entries")

    def records(self) -> list[Json]:
        return _list(self._call("GET", "records"), "records")

    def doubles(self) -> list[Json]:
        return _list(self._call("GET", "doubles"), "doubles")

    def requests(self) -> list[Json]:
        return _list(self._call("GET", "requests"), "requests")

    def profile(self, name: str, *, lag: float | None = None, limit: float | None = None) -> None:
        """`lag` and `limit` in seconds, None: the profile's own."""
        self._call("PUT", "profile", {"name": name, "lag_seconds": lag, "limit_seconds": limit})

    def owners_away(self, *owners: str) -> None:
        """These users have left the company, and no other has."""
        self._call("PUT", "owners", {"away": list(owners)})

    def set_clock(self, offset_seconds: float) -> None:
        """Let the sandbox's clock show this much more than the wall's."""
        self._call("PUT", "clock", {"offset_seconds": offset_seconds})

    def held(self) -> int:
        """How many requests wait to be executed late."""
        return int(str(self._call("GET", "late")["held"]))

    def release_late(self) -> int:
        """Execute them now; returns how many there were, after they are executed."""
        return int(str(self._call("POST", "late")["executed"]))

    def reset(self) -> None:
        """Forget everything: records, ledger, faults.  Held requests are executed before."""
        self._call("POST", "reset")

    def _call(self, method: str, path: str, body: object = None) -> Json:
        with requests.Session() as session:
            session.trust_env = False  # no proxy of the environment stands between a host and itself
            response = session.request(method, f"{self.url}/control/{path}", json=body, timeout=TIMEOUT)
        response.raise_for_status()
        answer: Json = response.json()
        return answer


def _list(answer: Json, name: str) -> list[Json]:
    value = answer[name]
    return [dict(item) for item in value] if isinstance(value, list) else []
