"""CRM clients are found by their names, and built from plain settings."""

from __future__ import annotations

from datetime import timedelta

import pytest

from crm_clients.base import Kind
from crm_clients.registry import BadSetting, UnknownClient, build


def test_an_unknown_client_is_refused_with_the_known_ones_named() -> None:
    with pytest.raises(UnknownClient, match=r"bottlecrm, .*sandbox"):
        build("nowhere", {})


@pytest.mark.parametrize("seconds", ["", "soon", "-1", "0", "1e400", "nan"])
def test_a_limit_that_is_no_time_is_refused(seconds: str) -> None:
    with pytest.raises(BadSetting):
        build("bottlecrm", {"limit_seconds": seconds})


@pytest.mark.parametrize("client", ["bottlecrm", "sandbox"])
def test_an_option_that_a_client_does_not_have_is_refused(client: str) -> None:
    with pytest.raises(BadSetting, match="limit_seconds"):
        build(client, {"limit_second": "30"})


def test_a_limit_is_the_destination_s_to_declare() -> None:
    assert build("bottlecrm", {}).capability(Kind.CONTACT).limit is None
    assert build("bottlecrm", {"limit_seconds": "30"}).capability(Kind.TASK).limit == timedelta(seconds=30)
