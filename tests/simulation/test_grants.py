"""An account by OAuth: one renewal however many ask, nothing spent twice, and a lost grant is said and mended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from crm_clients import oauth
from crm_clients.base import Account
from crm_clients.oauth import App, Tokens
from crm_clients.registry import build
from crm_clients.transport import NotSent
from intake import sealing
from tests.lab import Lab
from tests.oauth_server import Vendor, vendor
from workers import grants

NEARLY_OVER = timedelta(seconds=60)
LONG = timedelta(hours=1)


@dataclass(slots=True)
class Connected:
    """A lab whose account is connected by OAuth; the token that the sandbox takes is the vendor's."""

    lab: Lab
    vendor: Vendor

    def keep(self, access: str, lasts: timedelta | None, refresh: str | None = "refresh-0") -> None:
        seal = grants.seal_of(self.lab.desk)
        with self.lab.pool.connection() as conn:
            grants.connect(conn, "crm", Tokens(access, refresh, lasts), seal)
        self.lab.desk.tokens.clear()

    def account(self) -> Account | NotSent:
        return grants.account(self.lab.desk, self.lab.desk.wired["crm"])

    def row(self) -> dict[str, object]:
        (row,) = self.lab.rows("SELECT * FROM crm_grants")
        return row

    def paused(self) -> object:
        (account,) = self.lab.rows("SELECT paused_reason FROM accounts WHERE destination = 'crm'")
        return account["paused_reason"]


@pytest.fixture
def connected(stored: Lab) -> Iterator[Connected]:
    with vendor() as there:
        known = oauth.VENDORS["hubspot"]
        app = App(known, "authorization_code", "", there.url, "http://127.0.0.1:1/callback", "our-app", "our-secret")
        wired = stored.desk.wired["crm"]
        bare = replace(wired, account=replace(wired.account, headers=()), app=app)
        seal = sealing.of_keys([sealing.new_key()])
        stored.desk = replace(stored.desk, seal=seal, wired={**stored.desk.wired, "crm": bare}, tokens={})
        yield Connected(stored, there)


def token_of(account: Account | NotSent) -> str:
    assert isinstance(account, Account)
    return dict(account.headers)["Authorization"]


def test_a_token_that_lasts_is_used_as_it_is(connected: Connected) -> None:
    connected.keep("sandbox", LONG)
    assert (token_of(connected.account()), connected.vendor.asked) == ("Bearer sandbox", [])


def test_a_token_goes_where_the_client_wants_it(connected: Connected) -> None:
    wired = replace(connected.lab.desk.wired["crm"], client=build("bitrix24", {"user": "1"}))
    connected.lab.desk = replace(connected.lab.desk, wired={"crm": wired})
    connected.keep("t0ken", LONG)
    account = connected.account()
    assert isinstance(account, Account)
    assert (account.headers, account.members) == ((), (("auth", "t0ken"),))


def test_a_token_that_is_about_to_end_is_renewed_first(connected: Connected) -> None:
    connected.keep("old", NEARLY_OVER)
    event = connected.lab.form()
    connected.lab.work()
    assert (connected.lab.state(event), len(connected.vendor.asked)) == ("confirmed", 1)


def test_the_rotated_refresh_token_is_the_one_that_is_spent_next(connected: Connected) -> None:
    connected.keep("old", NEARLY_OVER)
    connected.vendor.lasts = 60
    for _ in range(3):
        connected.lab.desk.tokens.clear()
        assert token_of(connected.account()) == "Bearer sandbox"
    assert [each["refresh_token"] for each in connected.vendor.asked] == ["refresh-0", "refresh-1", "refresh-2"]


def test_many_at_once_spend_a_refresh_token_once(connected: Connected) -> None:
    connected.keep("old", NEARLY_OVER)
    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(lambda _: connected.account(), range(12)))
    assert (len(connected.vendor.asked), connected.vendor.lost) == (1, False)
    assert {token_of(each) for each in told} <= {"Bearer old", "Bearer sandbox"}


def test_who_comes_while_an_ended_token_is_renewed_sends_nothing(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    with connected.lab.pool.connection() as conn:
        conn.execute(
            "UPDATE crm_grants SET lease_token = gen_random_uuid(), leased_until = clock_timestamp() + interval '1 min'"
        )
    assert (connected.account(), connected.vendor.asked) == (NotSent("grant_busy"), [])


def test_a_lease_whose_holder_died_ends_by_itself(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    with connected.lab.pool.connection() as conn:
        conn.execute(
            "UPDATE crm_grants SET lease_token = gen_random_uuid(), leased_until = clock_timestamp() - interval '1 s'"
        )
    assert token_of(connected.account()) == "Bearer sandbox"


def test_a_renewal_without_an_answer_leaves_the_grant_to_the_next_try(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    connected.vendor.lose_answers = 1
    assert isinstance(connected.account(), NotSent)
    assert connected.row()["lease_token"] is None


def test_a_grant_that_the_vendor_ended_pauses_the_account_and_costs_no_lead_a_try(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    connected.vendor.lost = True
    event = connected.lab.form()
    connected.lab.settle(rounds=6)
    assert (connected.paused(), connected.lab.state(event)) == ("grant_lost", "waiting")
    assert [each for each in connected.lab.attempts(event) if each["kind"] == "write"] == []


def test_a_lost_grant_is_not_asked_for_again(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    connected.vendor.lost = True
    connected.lab.form()
    connected.lab.settle(rounds=6)
    assert len(connected.vendor.asked) == 1


def test_an_account_that_is_connected_again_goes_on(connected: Connected) -> None:
    connected.keep("old", timedelta(seconds=-1))
    connected.vendor.lost = True
    event = connected.lab.form()
    connected.lab.settle(rounds=3)
    connected.keep("sandbox", LONG)
    connected.lab.settle(rounds=6)
    assert (connected.lab.state(event), connected.paused()) == ("confirmed", None)


def test_a_token_that_the_crm_refuses_before_its_time_is_renewed(connected: Connected) -> None:
    connected.keep("revoked", LONG)
    with connected.lab.pool.connection() as conn:
        conn.execute("UPDATE crm_grants SET renewed_at = clock_timestamp() - interval '10 min'")
    event = connected.lab.form()
    connected.lab.settle(rounds=6)
    assert (connected.lab.state(event), len(connected.vendor.asked)) == ("confirmed", 1)


def test_without_a_grant_nothing_is_sent(connected: Connected) -> None:
    assert connected.account() == NotSent("grant_missing")


def test_the_token_stands_in_no_row_as_it_is(connected: Connected) -> None:
    connected.keep("sandbox", LONG)
    row = connected.row()
    assert b"sandbox" not in bytes(row["access_token"])  # type: ignore[call-overload]
    assert b"refresh-0" not in bytes(row["refresh_token"])  # type: ignore[call-overload]


def test_another_key_opens_no_token(connected: Connected) -> None:
    connected.keep("sandbox", LONG)
    connected.lab.desk = replace(connected.lab.desk, seal=sealing.of_keys([sealing.new_key()]))
    assert connected.account() == NotSent("grant_sealed")


def test_a_renewal_passes_a_boundary_before_and_after_it_asks(connected: Connected) -> None:
    connected.keep("old", NEARLY_OVER)
    passed: list[str] = []
    grants.account(connected.lab.other_desk(at=passed.append), connected.lab.desk.wired["crm"])
    assert passed == ["grant.leased", "grant.answered"]
