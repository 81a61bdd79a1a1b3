"""The beginning of an address."""

from __future__ import annotations

from urllib.parse import urlsplit


def origin(base_url: str) -> str:
    """Scheme, host and port, without the path: some CRMs put a secret there, or what their API alone knows."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}"
