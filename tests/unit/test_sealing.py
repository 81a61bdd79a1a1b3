"""What is sealed is opened by our keys alone, during a rotation too."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from intake import sealing
from intake.config import ConfigError
from intake.sealing import Sealed, from_environ, new_key, of_keys

TEXT = b"Ana Prueba, 987654321"


def test_sealed_bytes_say_nothing_and_open_again(tmp_path: Path) -> None:
    seal = from_environ({"INTAKE_HOME": str(tmp_path)})
    sealed = seal.close(TEXT)
    assert b"Ana" not in sealed
    assert b"\n" not in sealed
    assert seal.open(sealed) == TEXT


def test_a_host_makes_its_key_once_for_its_user_alone(tmp_path: Path) -> None:
    environ = {"INTAKE_HOME": str(tmp_path / "home")}
    with ThreadPoolExecutor(8) as pool:
        seals = list(pool.map(lambda _: from_environ(environ), range(8)))
    assert all(each.open(seals[0].close(TEXT)) == TEXT for each in seals)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["seal.key"]
    assert stat.S_IMODE((tmp_path / "home" / "seal.key").stat().st_mode) == 0o600


def test_a_new_key_before_an_old_one_opens_both(tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    before = from_environ({"INTAKE_SEAL_KEYS": old})
    (tmp_path / "keys").write_text(f"{new}\n{old}\n")
    during = from_environ({"INTAKE_SEAL_KEYS": f"file:{tmp_path}/keys"})
    assert during.open(before.close(TEXT)) == TEXT
    assert of_keys([new]).open(during.close(TEXT)) == TEXT
    with pytest.raises(Sealed):
        before.open(during.close(TEXT))


def test_what_a_host_sealed_while_the_setting_was_missing_opens_when_it_is_back(tmp_path: Path) -> None:
    home, key = {"INTAKE_HOME": str(tmp_path)}, new_key()
    sealed = from_environ(home).close(TEXT)
    back = from_environ({**home, "INTAKE_SEAL_KEYS": key})
    assert back.open(sealed) == TEXT
    assert of_keys([key]).open(back.close(TEXT)) == TEXT


@pytest.mark.parametrize("left", [b"", b"half a k", b"\xff"])
def test_a_broken_key_of_the_host_does_not_stand_in_the_way_of_the_setting(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "seal.key").write_bytes(left)
    seal = from_environ({"INTAKE_HOME": str(tmp_path), "INTAKE_SEAL_KEYS": new_key()})
    assert seal.open(seal.close(TEXT)) == TEXT


@pytest.mark.parametrize("sealed", [b"", b"nonsense", b"\xff", b"gAAAAA==", b"gAAAAA" + b"A" * 200])
def test_other_bytes_are_sealed_for_ever(sealed: bytes) -> None:
    with pytest.raises(Sealed):
        of_keys([new_key()]).open(sealed)


def test_keys_come_from_variables_too() -> None:
    one, two = new_key(), new_key()
    seal = from_environ({"INTAKE_SEAL_KEYS": "env:NEW, env:OLD", "NEW": one, "OLD": two})
    assert seal.open(of_keys([two]).close(TEXT)) == TEXT


@pytest.mark.parametrize("setting", ["hunter2-hunter2", "env:NOT_SET", "file:/not/there", ",", "file:"])
def test_a_wrong_setting_is_told_without_its_value(setting: str) -> None:
    with pytest.raises(ConfigError) as told:
        from_environ({sealing.SETTING: setting})
    assert "INTAKE_SEAL_KEYS" in str(told.value)
    assert "hunter2" not in str(told.value)
