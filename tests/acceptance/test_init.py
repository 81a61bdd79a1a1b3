"""From an empty folder to the first lead in the CRM, by the commands that the guide names."""

from __future__ import annotations

from tests.running import home, until


def test_what_init_writes_brings_a_first_lead_into_the_sandbox() -> None:
    with home() as made:
        begun = made.intake("init", "--yes", "--public-url", f"http://127.0.0.1:{made.port}", "--quote")
        assert begun.status == 0, begun.err
        made.start()
        event_id = made.send()
        assert until(lambda: made.state(event_id) == "confirmed")
        assert until(lambda: made.intake("check").status == 0), made.intake("check").out
        assert made.stop() == 0
