"""Make .venv with the standard library alone; bin/setup calls this with an interpreter that is new enough."""

import configparser
import fcntl
import hashlib
import html
import http
import http.client
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "setup.stamp"

# The installer is pinned like all that it installs; a new version is a new pair of these two lines.
PIP_WHEEL = "pip-26.3-py3-none-any.whl"
PIP_SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"

PUBLIC_INDEX = "https://pypi.org/simple"
# Seconds before the 2nd, 3rd and 4th try: a flaky network is over by then, a missing one is still told soon.
PAUSES = (1.0, 2.0, 4.0)
# Seconds without a byte until a try counts as failed.
NETWORK_TIMEOUT = 30.0
# Refusals that pass by themselves.
PASSING = (http.HTTPStatus.REQUEST_TIMEOUT, http.HTTPStatus.TOO_MANY_REQUESTS)


class SetupError(Exception):
    """The environment could not be made; the text says what to do."""


def main() -> int:
    """Bring .venv up to date.  Returns the exit status."""
    wanted = fingerprint(ROOT)
    if is_done(wanted):
        return 0
    try:
        with only_one_at_a_time(ROOT / ".venv.lock"):
            # Whoever held the lock before may have done it all.
            if not is_done(wanted):
                make(wanted)
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


def fingerprint(root: Path) -> str:
    """Name what an environment is made from: interpreter, place (scripts hold it), lock, project."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {root}\n".encode())
    for name in ("requirements.lock", "pyproject.toml", "bin/_setup.py"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def is_done(wanted: str) -> bool:
    """Tell whether the last setup that came to its end made this very environment."""
    return STAMP.is_file() and STAMP.read_text() == wanted and VENV_PYTHON.exists()


@contextmanager
def only_one_at_a_time(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel takes back when its holder dies."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another setup runs here; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(wanted: str) -> None:
    """Make the environment, and stamp it only when every step came to its end."""
    started = time.monotonic()
    STAMP.unlink(missing_ok=True)
    if not venv_fits():
        say(f"making .venv with Python {sys.version.split()[0]}")
        # Without pip, because Debian keeps ensurepip in a package of its own.
        run([base_python(), "-m", "venv", "--without-pip", "--clear", str(VENV)])
    pip = pip_wheel()
    say("installing what requirements.lock names (some 400 MB; minutes, the first time)")
    run_pip(pip, "--require-hashes", "-r", "requirements.lock")
    say("installing lead-intake itself")
    run_pip(pip, "--no-deps", "--no-build-isolation", "--no-index", "-e", ".")
    STAMP.write_text(wanted)
    say(f"done in {time.monotonic() - started:.0f} s")


def venv_fits() -> bool:
    """Tell whether .venv stands here, works, and has this interpreter's version."""
    config = VENV / "pyvenv.cfg"
    # `command` holds the folder it was made for; a moved checkout has scripts that point to the old place.
    if not config.is_file() or not config.read_text().rstrip().endswith(f" {VENV}"):
        return False
    ask = [str(VENV_PYTHON), "-I", "-S", "-c", "import sys; print(sys.version_info[:2])"]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return answer.stdout.strip() == str(sys.version_info[:2])


def base_python() -> str:
    """Find the interpreter outside of any environment: .venv cannot be cleared and used at once."""
    return str(getattr(sys, "_base_executable", sys.executable))


def pip_wheel() -> Path:
    """Return pip's own wheel, fetched unless it is there already.  A wheel runs without being installed."""
    path = VENV / PIP_WHEEL
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == PIP_SHA256:
        return path
    index = index_url(os.environ, config_files(os.environ))
    say(f"fetching {PIP_WHEEL}")
    page, final_url = with_retries(f"{index.rstrip('/')}/pip/")
    content, _ = with_retries(wheel_url(page.decode(), final_url))
    if hashlib.sha256(content).hexdigest() != PIP_SHA256:
        message = f"{PIP_WHEEL} from {without_password(index)} is not the file that is pinned here; nothing was run"
        raise SetupError(message)
    path.write_bytes(content)
    return path


def config_files(env: Mapping[str, str]) -> list[Path]:
    """List the files in which pip's settings may stand, the strongest first."""
    home = Path(env.get("HOME") or "/nonexistent")
    own = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    files = [
        own / "pip" / "pip.conf",
        home / ".pip" / "pip.conf",
        Path("/etc/xdg/pip/pip.conf"),
        Path("/etc/pip.conf"),
    ]
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:  # pip's way to say: no file at all
        return []
    return [Path(named), *files] if named else files


def index_url(env: Mapping[str, str], files: list[Path]) -> str:
    """Read which package index pip would use: its variable, then its files, then the public one."""
    if env.get("PIP_INDEX_URL"):
        return env["PIP_INDEX_URL"]
    for file in files:
        config = configparser.RawConfigParser()
        config.read(file)
        for section in ("install", "global"):
            url = config.get(section, "index-url", fallback="")
            if url:
                return url
    return PUBLIC_INDEX


def wheel_url(page: str, page_url: str) -> str:
    """Find the pinned wheel on an index page (the HTML form of the simple repository API, PEP 503)."""
    found = re.search(rf'href="([^"#]*{re.escape(PIP_WHEEL)})[#"]', page)
    if found is None:
        raise SetupError(
            f"{without_password(page_url)} does not list {PIP_WHEEL}; set PIP_INDEX_URL to an index that does"
        )
    return urllib.parse.urljoin(page_url, html.unescape(found[1]))


def fetch(url: str) -> tuple[bytes, str]:
    """Get a page or file, and the address it came from in the end.  Proxy variables are obeyed by urllib."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https", "file") or "@" in parts.netloc:
        raise SetupError(
            f"{without_password(url)} needs a scheme or a password that setup does not know; "
            f"fetch {PIP_WHEEL} from there yourself, put it into {VENV}, and start again"
        )
    headers = {"Accept": "text/html, */*;q=0.1", "User-Agent": "lead-intake-setup"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310  # the scheme was checked above
    context = tls_context(os.environ)
    with urllib.request.urlopen(request, timeout=NETWORK_TIMEOUT, context=context) as answer:  # noqa: S310
        return answer.read(), answer.url


def tls_context(env: Mapping[str, str]) -> ssl.SSLContext:
    """Trust what pip would trust: PIP_CERT, else SSL_CERT_FILE and the system's authorities."""
    context = ssl.create_default_context(cafile=env.get("PIP_CERT") or None)
    if not has_authorities(env):
        # A machine without ca-certificates.  What is fetched here is checked against a pinned SHA-256 before
        # it runs, so nothing rests on TLS; pip then brings its own authorities.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def has_authorities(env: Mapping[str, str]) -> bool:
    """Tell whether this machine has any certificate authority to trust."""
    system = ssl.get_default_verify_paths()
    files = (env.get("PIP_CERT"), env.get("SSL_CERT_FILE"), system.openssl_cafile)
    folders = (env.get("SSL_CERT_DIR"), system.openssl_capath)
    return any(name and Path(name).is_file() for name in files) or any(
        name and Path(name).is_dir() and any(Path(name).iterdir()) for name in folders
    )


def with_retries(url: str) -> tuple[bytes, str]:
    """Fetch, and try again after a while what may pass by itself.  Raises SetupError when it does not."""
    for pause in (*PAUSES, None):
        try:
            return fetch(url)
        except (OSError, http.client.HTTPException) as error:
            if pause is None or is_final(error):
                raise SetupError(f"cannot fetch {without_password(url)}: {error}") from error
            say(f"the network failed ({error}); trying again in {pause:.0f} s")
            time.sleep(pause)
    raise AssertionError("the last pause is None")


def is_final(error: Exception) -> bool:
    """Tell whether another try would end the same way: the index answered, and not with a passing fault."""
    status = error.code if isinstance(error, urllib.error.HTTPError) else None
    return status is not None and status < http.HTTPStatus.INTERNAL_SERVER_ERROR and status not in PASSING


def without_password(url: str) -> str:
    """Drop user and password, which must not be printed."""
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def run_pip(pip: Path, *arguments: str) -> None:
    """Run `pip install` in .venv.  Index, proxy and certificates stay pip's own settings."""
    # Twice quiet: errors only.  Its warnings are about caches and folders of the machine, not about this project.
    quiet = ("-qq", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    run([str(VENV_PYTHON), str(pip / "pip"), "install", *quiet, *arguments])


def run(command: list[str]) -> None:
    """Run a step.  Raises SetupError; what went wrong stands above it, in the step's own words."""
    env = {
        **os.environ,
        "PIP_USER": "0",  # a machine-wide user=1 is an error inside an environment
        "PIP_RETRIES": os.environ.get("PIP_RETRIES", "8"),
    }
    # These would make an interpreter look for its modules elsewhere.
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX"):
        env.pop(name, None)
    step = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False)
    if step.returncode != 0:
        raise SetupError(f"this step failed: {' '.join(command[:6])}")


def say(text: str) -> None:
    """Print a progress line."""
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
