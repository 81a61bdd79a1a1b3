"""gunicorn's own log, in lines like ours."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger as PlainLogger

from intake.logs import OneLine


class Logger(PlainLogger):  # type: ignore[misc]  # gunicorn publishes no types
    """Its access log stays off (intake.gunicorn_conf)."""

    def setup(self, cfg: Config) -> None:
        """Called by gunicorn when it starts and when it reads its configuration again."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(OneLine())
