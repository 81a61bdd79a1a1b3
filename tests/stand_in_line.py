"""A transport that ends inside the process, at a CRM's stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable

from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, Sent, Transport, Unanswered
from tests.stand_ins import NoSuchPath, StandIn


class Line(Transport):
    """The transport, with a stand-in at its other end.  `lost`: what becomes of the next write to such a path."""

    def __init__(self, crm: StandIn) -> None:
        super().__init__()
        self.crm = crm
        self.lost: tuple[str, bool] | None = None  # a part of the path, and whether it is executed

    def write(
        self,
        account: Account,  # noqa: ARG002 - there is one
        request: Request,
        *,
        send_by: float,  # noqa: ARG002 - it is in time
        deadline: float,  # noqa: ARG002
        on_first_byte: Callable[[], None] | None = None,
    ) -> Sent:
        if on_first_byte is not None:
            on_first_byte()
        if self.lost is None or self.lost[0] not in request.path:
            return self._answered(request)
        executed, self.lost = self.lost[1], None
        if executed:
            self._answered(request)
        return Unanswered("reset")

    def look(self, account: Account, request: Request, *, deadline: float) -> Sent:  # noqa: ARG002
        return self._answered(request)

    def _answered(self, request: Request) -> Answered:
        try:
            status, body = self.crm.answer(request)
        except NoSuchPath:
            status, body = 404, None
        return Answered(Response(status, {}, b"" if body is None else json.dumps(body).encode()))
