"""bin/bench: how fast it is on this machine, as ratios of what ran side by side.

door       a null Flask view, each stage of the door, the door itself, and the database's own ceiling
deliver    workers against the sandbox CRM, at several latencies and numbers of threads
growth     the same door, clock, inbox and claims with few and with many stored events
start      start-up times
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tests.bench import deliver, door, growth, report, start
from tests.bench.figures import Figures
from tests.bench.load import CannotMeasure, wrk
from tests.bench.place import Servers, servers
from tests.bench.sizes import FULL, QUICK, TINY, Sizes

SIZES = {"full": FULL, "quick": QUICK, "tiny": TINY}
SECTIONS = ("start", "door", "deliver", "growth")
TEN_MILLION = 10_000_000


def main(arguments: Sequence[str]) -> int:
    """The exit status: 2 where something that it needs is not there, 1 where a part could not be measured."""
    options = _options().parse_args(arguments)
    console = Console(width=140, file=sys.stderr if options.json == "-" else sys.stdout)
    sizes = _sizes(options)
    chosen = tuple(options.only.split(",")) if options.only else SECTIONS
    if set(chosen) - set(SECTIONS):
        console.print(f"--only takes: {', '.join(SECTIONS)}")
        return 2
    try:
        if {"door", "growth"} & set(chosen):
            wrk()
    except CannotMeasure as missing:
        console.print(f"bench: {missing}; --only start,deliver needs none")
        return 2
    figures, began = Figures(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with servers(Path(folder)) as ours:
            _run(chosen, _sections(ours, sizes, figures, options.against), figures, began + options.minutes * 60)
    about: dict[str, object] = {"machine": _machine(), "size": options.size, "seconds": round(time.monotonic() - began)}
    _tell(options, figures, about, console)
    return 1 if figures.missing else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bin/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--quick", dest="size", action="store_const", const="quick", default="full", help="under two minutes"
    )
    parser.add_argument("--tiny", dest="size", action="store_const", const="tiny", help="only to see that it runs")
    parser.add_argument("--only", metavar="SECTIONS", help=f"some of {','.join(SECTIONS)}")
    parser.add_argument(
        "--ten-million", action="store_true", help="growth up to 10^7 events, too (40 GB, half an hour)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="measure the door of another checkout beside this one"
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="no part begins later than this (default 30)")
    parser.add_argument("--rounds", type=int, help="rounds of the door")
    parser.add_argument("--json", metavar="FILE", help="- for the standard output")
    parser.add_argument("--svg", metavar="FILE")
    return parser


def _sizes(options: argparse.Namespace) -> Sizes:
    sizes = SIZES[options.size]
    if options.ten_million:
        sizes = replace(sizes, stored=(*sizes.stored, TEN_MILLION))
    return replace(sizes, rounds=options.rounds) if options.rounds else sizes


def _sections(ours: Servers, sizes: Sizes, figures: Figures, against: Path | None) -> dict[str, Callable[[], None]]:
    return {
        "start": lambda: start.measure(sizes, figures, ours.folder),
        "door": lambda: door.measure(ours, sizes, figures, against.resolve() if against else None),
        "deliver": lambda: deliver.measure(ours, sizes, figures),
        "growth": lambda: growth.measure(ours, sizes, figures),
    }


def _run(chosen: Sequence[str], parts: dict[str, Callable[[], None]], figures: Figures, until: float) -> None:
    for name in chosen:
        if time.monotonic() > until:
            figures.missing[name] = "the time was over"
            continue
        try:
            parts[name]()
        except CannotMeasure as why:
            figures.missing[name] = str(why)


def _machine() -> dict[str, object]:
    load = os.getloadavg()[0]
    return {"processors": os.cpu_count(), "python": platform.python_version(), "load_average_at_end": round(load, 1)}


def _tell(options: argparse.Namespace, figures: Figures, about: dict[str, object], console: Console) -> None:
    report.show(figures, console)
    console.print(f"{about}", markup=False)
    document = json.dumps(figures.document(about), indent=1) + "\n"
    if options.json == "-":
        sys.stdout.write(document)
    elif options.json:
        Path(options.json).write_text(document, "utf-8")
    if options.svg:
        Path(options.svg).write_text(report.svg(figures), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
