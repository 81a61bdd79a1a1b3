"""Which of the connections that looks leave open the transport takes again, on real sockets."""

from __future__ import annotations

from crm_clients.connection import MOST_REST
from crm_clients.transport import Answered, Transport
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import serving
from tests.integration.sending import GET, LONG, account, answering_for_ever


def test_a_kept_connection_that_rested_for_long_is_not_taken_again() -> None:
    later = 0.0
    with serving(answering_for_ever) as server, Transport(clock=lambda: boot_clock() + later) as transport:
        for later in (0.0, MOST_REST - LONG, MOST_REST * 2):
            sent = transport.look(account(server), GET, deadline=boot_clock() + later + LONG)
            assert isinstance(sent, Answered)
        assert len(server.connections) == 2
