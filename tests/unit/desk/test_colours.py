"""Every text of the console can be read: WCAG 2.2 asks 4.5:1 (1.4.3, level AA), in light and in dark."""

from __future__ import annotations

import re
from typing import Final

import pytest

from intake.console.wording import STATIC

LEAST: Final = 4.5
PAIRS: Final = (
    ("ink", "paper"), ("ink", "card"), ("soft", "paper"), ("soft", "card"), ("soft", "grey-soft"),
    ("accent", "card"), ("accent", "paper"), ("accent-ink", "accent"), ("amber", "card"), ("amber", "amber-soft"),
    ("red", "card"), ("red", "red-soft"), ("green", "card"), ("green", "green-soft"), ("blue", "blue-soft"),
    ("violet", "violet-soft"), ("card", "violet"), ("card", "green"), ("ink", "amber-soft"),
)  # fmt: skip
COLOUR: Final = re.compile(r"--([a-z-]+): #([0-9a-f]{6})")


def palettes() -> dict[str, dict[str, str]]:
    """The colours by name; those that dark does not change are light's."""
    light, dark = re.findall(r":root \{(.*?)\}", (STATIC / "desk.css").read_text("utf-8"), re.DOTALL)
    return {"light": dict(COLOUR.findall(light)), "dark": dict(COLOUR.findall(light)) | dict(COLOUR.findall(dark))}


def luminance(colour: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-relative-luminance (2026-11-29)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(scheme: str) -> None:
    colours = palettes()[scheme]
    faint = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < LEAST} == {}
