"""Which addresses of a sender's service are asked for a file: those at its own hosts."""

from __future__ import annotations

import pytest

from workers.addresses import Place, mime_type, place

HOSTS = ("https://mms.twiliocdn.com", "http://127.0.0.1:8099")


def test_address_at_a_known_host_is_a_request_below_it() -> None:
    found = place("https://mms.twiliocdn.com/a/b?Expires=1&Signature=x~y%2Fz", HOSTS)
    assert isinstance(found, Place)
    assert (found.base_url, found.request.path) == ("https://mms.twiliocdn.com", "/a/b")
    assert found.request.query == (("Expires", "1"), ("Signature", "x~y/z"))


def test_port_is_a_part_of_the_host() -> None:
    assert place("http://127.0.0.1:8099/x", HOSTS) is not None
    assert place("http://127.0.0.1/x", HOSTS) is None


@pytest.mark.parametrize("address", [
    "", "/other", "file:///etc/passwd", "http://[::1", "http://169.254.169.254/latest/meta-data",
    "http://mms.twiliocdn.com/x", "https://mms.twiliocdn.com.example.com/x", "https://user@mms.twiliocdn.com/x",
    "https://mms.twiliocdn.com:99999/x", "https://example.com#@mms.twiliocdn.com/", "//mms.twiliocdn.com/x",
    "https://example.com\\@mms.twiliocdn.com/x",
])  # fmt: skip
def test_address_elsewhere_is_none(address: str) -> None:
    assert place(address, HOSTS) is None


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("audio/ogg; codecs=opus", "audio/ogg"),
        ("IMAGE/JPEG", "image/jpeg"),
        ("../../x", "application/octet-stream"),
        (None, "application/octet-stream"),
    ],
)
def test_media_type_is_bare_or_unknown(told: str | None, read: str) -> None:
    assert mime_type(told) == read
