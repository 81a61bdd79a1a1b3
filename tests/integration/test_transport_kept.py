"""Which of the connections that looks leave open the transport takes again, on real sockets."""

from __future__ import annotations

from crm_clients.connection import MOST_REST
from crm_clients.transport import Answered, Transport
from tests.integration.raw_server import serving
from tests.integration.sending import GET, LONG, account, answering_for_ever


def test_a_kept_connection_that_rested_for_long_is_not_taken_again() -> None:
    now = 0.0
    with serving(answering_for_ever) as server, Transport(clock=lambda: now) as transport:
        for now in (100.0, 100.0 + MOST_REST / 2, 100.0 + MOST_REST * 2):
            sent = transport.look(account(server), GET, deadline=now + LONG)
            assert isinstance(sent, Answered)
        assert len(server.connections) == 2
