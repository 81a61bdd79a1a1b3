"""How gunicorn runs the door: `gunicorn --config python:intake.gunicorn_conf`; `intake up` and the Procfile use it.

Threads, because a request waits for one COMMIT and for nothing else.  2 processes, so that one can be replaced while
the other answers; 8 threads each, since 16 requests at once are far more than a sales team's forms send, and each holds
one of PostgreSQL's connections.  Behind a reverse proxy on the same host, hence the loopback address.
Settings: https://docs.gunicorn.org/en/stable/settings.html (2026-11-29).
"""

import gc
import os
from pathlib import Path

# Hosts that route to a port of this machine (Heroku and its like, containers) want WEB_HOST=0.0.0.0.
bind = f"{os.environ.get('WEB_HOST') or '127.0.0.1'}:{os.environ.get('PORT') or 8080}"
workers = int(os.environ.get("WEB_WORKERS") or 2)
threads = int(os.environ.get("WEB_THREADS") or 8)
worker_class = "intake.gunicorn_worker.Worker"
# Connections in each, slow ones and all: with our files and the database's below the 1024 that a process may open.
worker_connections = int(os.environ.get("WEB_CONNECTIONS") or 500)

# Seconds.  Senders give up after 5 at the earliest, and show a slow answer to the visitor, who presses again: by then
# the database has the delivery, or it is answered with 503 (or spooled).
STORE_LIMIT = float(os.environ.get("WEB_STORE_LIMIT") or 0.9)

# Seconds.  A worker whose main thread is stuck is replaced; one that is told to stop ends what it has begun.
timeout = 30
graceful_timeout = 8
# Longer than most pauses between two deliveries of one batch, shorter than the proxies' own limits.
keepalive = 5

# Bytes and fields.  A token in the query is short; the longest headers are signatures and cookies.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# We read no client address and no scheme from headers, so nobody is trusted to set them (nor SCRIPT_NAME, PATH_INFO).
forwarded_allow_ips = ""
forwarder_headers = ""

# Access logs stay off: a URL may carry a token.  What the door itself has to say goes to stderr, without payloads.
accesslog = None
loglevel = "warning"
logger_class = "intake.gunicorn_log.Logger"
# Nobody steers it but by signals.
control_socket_disable = True

# The files by which a worker shows that it lives: on a busy disk they would stall it.  gunicorn's are nameless there.
_memory = Path("/dev/shm")  # noqa: S108
worker_tmp_dir = str(_memory) if os.access(_memory, os.W_OK) else None


def post_worker_init(worker: object) -> None:  # noqa: ARG001  # gunicorn calls it with this name
    """What is loaded stays: looking through all of it for what is unused would hold each request up for 90 ms."""
    gc.collect()
    gc.freeze()
