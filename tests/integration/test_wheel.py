"""What is in the wheel that people install."""

import subprocess
import sys
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_the_wheel_holds_the_sql_files_and_nothing_of_the_tests(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    packed = {name.removeprefix("intake/") for name in names if name.endswith(".sql")}
    assert packed == {str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "sql").rglob("*.sql")}
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"intake", "workers", "crm_clients"}
