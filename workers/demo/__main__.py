"""`python -m workers.demo [--once] [--lang en|es]`, called by bin/demo.  Exit: 0 as the story tells it, else 1."""

from __future__ import annotations

import io
import os
import signal
import sys

import click


@click.command()
@click.option("--once", is_flag=True, help="End by itself, with status 0 only if everything came out as it should.")
@click.option("--lang", type=click.Choice(["en", "es"]), default="en", show_default=True, help="Of what is printed.")
def main(*, once: bool, lang: str) -> None:
    """Run the whole pipeline on real-looking webhooks against a CRM that misbehaves.

    PostgreSQL and Valkey come from wheels, whatever DATABASE_URL and REDIS_URL say; the state is in a temporary folder
    and gone afterwards.  Nothing leaves this machine.
    """
    # Only now: `--help` needs none of it.
    import psycopg  # noqa: PLC0415
    import requests  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415

    from intake.processes import EmbeddedError  # noqa: PLC0415
    from workers import up  # noqa: PLC0415
    from workers.demo.printing import WIDE, Printer  # noqa: PLC0415
    from workers.demo.progress import Progress  # noqa: PLC0415
    from workers.demo.show import Show  # noqa: PLC0415
    from workers.plan import CannotStart  # noqa: PLC0415

    stop = up.Signals().stop
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # The terminal is closed; `nohup` ignores that.
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
    printer = Printer(Console(highlight=False, width=width), "es" if lang == "es" else "en")
    progress = Progress(sys.stderr)
    try:
        good = Show(printer, progress, dict(os.environ), once).run(stop)
    except (CannotStart, EmbeddedError, OSError, psycopg.Error, requests.RequestException) as failed:
        progress.note(f"it could not be run: {failed}")
        sys.exit(1)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    try:
        main(prog_name="bin/demo")
    except KeyboardInterrupt:  # Before there was anything to clean up.
        sys.exit(1)
