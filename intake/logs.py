"""Logs: one JSON object a line, ids and states only; a lead's text, e-mail and phone never."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

import structlog


class OneLine(logging.Formatter):
    """What a library says, as structlog writes ours: a line that somebody sent in the middle of it begins no other."""

    def format(self, record: logging.LogRecord) -> str:
        said = {"logger": record.name, "event": record.getMessage(), "level": record.levelname.lower()}
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps({**said, "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat()})


def configure(level: int = logging.INFO) -> None:
    """For every process of ours; libraries are heard from warnings on."""
    libraries = logging.StreamHandler(sys.stderr)
    libraries.setFormatter(OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[libraries])
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
