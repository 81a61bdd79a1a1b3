"""The configuration: read once, typed, and checked before anything starts.

    intake.toml ──tomllib──> tables ──schema──> checked words ──loading──> Settings
                                        └─ problems, each with its line ─> ConfigError

Secrets are references (`env:NAME`, `file:PATH`); a missing one closes its source and nothing else.
"""

from __future__ import annotations

from intake.config.errors import ConfigError, Problem
from intake.config.known import KNOWN_CLIENTS, KNOWN_PROVIDERS, LEAD_FIELDS, PLACEHOLDERS
from intake.config.loading import load
from intake.config.process import DEMO_CONFIG, Process
from intake.config.secret import Secret
from intake.config.settings import (
    Alerts,
    Assignment,
    ContactRule,
    Destination,
    OAuthRule,
    OwnerRule,
    Settings,
    Source,
    TaskRule,
)
from intake.config.template import Template

__all__ = [
    "DEMO_CONFIG",
    "KNOWN_CLIENTS",
    "KNOWN_PROVIDERS",
    "LEAD_FIELDS",
    "PLACEHOLDERS",
    "Alerts",
    "Assignment",
    "ConfigError",
    "ContactRule",
    "Destination",
    "OAuthRule",
    "OwnerRule",
    "Problem",
    "Process",
    "Secret",
    "Settings",
    "Source",
    "TaskRule",
    "Template",
    "load",
]
