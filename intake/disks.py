"""What kind of file system a folder is on: whether what is written there is there after a restart."""

from __future__ import annotations

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

# Memory, and the layers of a container, which are gone with it.
FORGETFUL = frozenset({"tmpfs", "ramfs", "devtmpfs", "overlay", "aufs", "rootfs", "squashfs"})

# proc(5): spaces and the like stand there as octal numbers.
OCTAL = re.compile(r"\\([0-7]{3})")


def file_system(folder: Path, mounts: str) -> str:
    """The type of the file system of a folder, "" if it cannot be told.  `mounts`: as in /proc/self/mountinfo."""
    real = folder.resolve()
    found, depth = "", -1
    for line in mounts.splitlines():
        point, kind = _mount(line)
        # The last mount on a place lies over those before it.
        if real.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind, len(point.parts)
    return found


def _mount(line: str) -> tuple[Path, str]:
    before, _, after = line.partition(" - ")
    fields, kinds = before.split(), after.split()
    if len(fields) < 5 or not kinds:  # noqa: PLR2004  # the fifth is where it is mounted
        return Path("/nowhere at all"), ""
    return Path(OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4])), kinds[0]
