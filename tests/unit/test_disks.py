"""Which folders are still there after a restart."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from intake import spooling
from intake.disks import file_system
from intake.spool import SUFFIX
from tests.commands import intake, listed

# As in proc(5), section /proc/pid/mountinfo.
MOUNTS = """\
20 1 0:30 / / rw,relatime shared:1 - overlay overlay rw,lowerdir=/a,upperdir=/b
21 20 254:1 / /var/lib rw,relatime - ext4 /dev/vda rw
22 20 0:22 / /dev/shm rw - tmpfs tmpfs rw
23 20 254:2 / /mnt/with\\040space rw master:2 - xfs /dev/vdb rw
24 21 0:23 / /var/lib/memory rw - tmpfs tmpfs rw
25 24 254:3 / /var/lib/memory rw - btrfs /dev/vdc rw
nonsense
"""


SOURCE = '[[sources]]\nname = "web"\nkind = "form"\nprovider = "generic"\nsecrets = ["env:TOKEN"]\n'


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/spool", "overlay"),
        ("/var/lib/spool", "ext4"),
        ("/var/library", "overlay"),
        ("/dev/shm/spool", "tmpfs"),  # noqa: S108  # only a name
        ("/mnt/with space/spool", "xfs"),
        ("/var/lib/memory/spool", "btrfs"),
    ],
)
def test_the_mount_that_holds_a_folder_tells_its_kind(folder: str, kind: str) -> None:
    assert file_system(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["tmpfs", "overlay", "ramfs"])
def test_a_forgetful_disk_is_refused_unless_a_person_knows_better(tmp_path: Path, kind: str) -> None:
    mounts = f"20 1 0:30 / / rw - {kind} none rw"
    assert kind in str(spooling.unfit(tmp_path / "spool", persistent=False, mounts=mounts))
    assert not (tmp_path / "spool").exists()
    assert spooling.unfit(tmp_path / "spool", persistent=True, mounts=mounts) is None


def test_a_folder_without_a_parent_is_refused(tmp_path: Path) -> None:
    assert "parent" in str(spooling.unfit(tmp_path / "not-mounted" / "spool", persistent=True))


def test_a_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    assert spooling.unfit(tmp_path / "spool", persistent=True) is None
    assert (tmp_path / "spool").stat().st_mode & 0o777 == 0o700


MEMORY = Path("/dev/shm")  # noqa: S108  # its own name


@pytest.mark.skipif(not MEMORY.is_dir(), reason="no file system in memory")
def test_neither_up_nor_the_doctor_takes_a_spool_in_memory(tmp_path: Path) -> None:
    folder = MEMORY / f"intake-{secrets.token_hex(8)}"
    config = tmp_path / "intake.toml"
    config.write_text(f'[intake]\nspool_dir = "{folder}"\n{SOURCE}', "utf-8")
    environ = {"INTAKE_CONFIG": str(config), "INTAKE_HOME": str(tmp_path / "home"), "TOKEN": "x"}
    refused = intake(environ, "up")
    assert (refused.status, "tmpfs" in refused.err, folder.exists()) == (2, True, False)
    (line,) = [
        each for each in listed(intake(environ, "check", "--json").document, "checks") if each["what"] == "spool"
    ]
    assert line["verdict"] == "fail"


@pytest.mark.parametrize(
    ("age", "size", "verdict"),
    [(timedelta(), 10, "ok"), (timedelta(minutes=5), 10, "fail"), (timedelta(), 1024 * 1024, "fail")],
    ids=["drained soon", "late", "full"],
)
def test_the_doctor_sees_what_a_spool_holds(tmp_path: Path, age: timedelta, size: int, verdict: str) -> None:
    folder, config = tmp_path / "spool", tmp_path / "intake.toml"
    folder.mkdir()
    began = int((datetime.now(UTC) - age).timestamp() * 1e9)
    (folder / f"{began}-1{SUFFIX}").write_bytes(b"x" * size)
    config.write_text(
        f'[intake]\nspool_dir = "{folder}"\nspool_persistent = true\nspool_megabytes = 1\n{SOURCE}', "utf-8"
    )
    environ = {"INTAKE_CONFIG": str(config), "INTAKE_HOME": str(tmp_path / "home"), "TOKEN": "x"}
    (line,) = [
        each for each in listed(intake(environ, "check", "--json").document, "checks") if each["what"] == "spool"
    ]
    assert line["verdict"] == verdict
