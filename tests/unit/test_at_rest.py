"""What lies in the database opens for whoever has the key, for nobody else, and comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intake import at_rest
from intake.at_rest import AS_IT_CAME, MARK, NONE, Damaged, Keys, Payload, Unopenable
from intake.config import ConfigError
from intake.sealing import new_key

OLD, NEW = new_key(), new_key()
CODECS = [NONE, at_rest.of_keys([OLD]), at_rest.of_keys([NEW, OLD])]

# What begins as sealed things do, too.
CONTENTS = st.binary(max_size=200) | st.binary(max_size=30).map(lambda rest: MARK + AS_IT_CAME + rest)


@pytest.mark.parametrize("keys", CODECS)
@given(content=CONTENTS)
def test_what_was_closed_opens_as_it_was(keys: Keys, content: bytes) -> None:
    assert keys.open(keys.close(content)) == content


@given(content=CONTENTS)
def test_what_came_before_there_were_keys_opens_afterwards(content: bytes) -> None:
    assert CODECS[1].open(NONE.close(content)) == content


@given(content=CONTENTS)
def test_what_an_older_key_sealed_opens_after_the_change(content: bytes) -> None:
    assert CODECS[2].open(CODECS[1].close(content)) == content


@given(content=st.binary(min_size=8, max_size=200))
def test_nothing_of_a_content_stands_in_what_is_stored(content: bytes) -> None:
    # What is sealed begins with our mark, whatever was in it.
    assert content not in CODECS[1].close(content).removeprefix(MARK)


@given(content=st.binary(min_size=1))
def test_the_same_content_gives_the_same_bytes_under_one_key_alone(content: bytes) -> None:
    old, new = CODECS[1], CODECS[2]
    assert old.close(content) == at_rest.of_keys([OLD]).close(content)
    assert old.close(content) != new.close(content)


@pytest.mark.parametrize("keys", [NONE, at_rest.of_keys([NEW])])
def test_nobody_opens_it_without_the_key(keys: Keys) -> None:
    with pytest.raises(Unopenable):
        keys.open(at_rest.of_keys([OLD]).close(b"Hola"))


def test_what_was_changed_on_the_disk_is_not_taken_for_a_content() -> None:
    keys = at_rest.of_keys([OLD])
    stored = bytearray(keys.close(b"Hola"))
    stored[-1] ^= 1
    with pytest.raises(Damaged):
        keys.open(bytes(stored))


def test_a_content_of_one_key_does_not_pass_for_one_of_another() -> None:
    old, new = at_rest.of_keys([OLD]), at_rest.of_keys([NEW])
    both = at_rest.of_keys([NEW, OLD])
    forged = new.heads[0] + old.close(b"Hola")[len(old.heads[0]) :]
    with pytest.raises(Damaged):
        both.open(forged)


def test_no_digest_begins_as_sealed_contents_do() -> None:
    """A connection that reads 32 bytes cannot ask what they are: the mark is too long to be met by chance."""
    assert len(MARK) * 8 >= 64


def test_the_setting_names_the_keys() -> None:
    assert [key.id for key in at_rest.from_environ({"INTAKE_SEAL_KEYS": f"{NEW},{OLD}"}).keys] == [
        key.id for key in CODECS[2].keys
    ]
    assert at_rest.from_environ({}) == NONE


def test_what_is_not_told_to_seal_stores_what_came() -> None:
    keys = at_rest.of_keys([OLD], seals=False)
    assert keys.close(b"Hola") == b"Hola"
    assert keys.open(CODECS[1].close(b"Hola")) == b"Hola"


def test_a_key_that_is_none_is_refused_without_being_repeated() -> None:
    with pytest.raises(ConfigError) as refused:
        at_rest.from_environ({"INTAKE_SEAL_KEYS": "not-a-key"})
    assert "not-a-key" not in str(refused.value)


def test_no_key_shows_in_a_representation() -> None:
    keys = at_rest.of_keys([OLD])
    assert OLD not in repr(keys)
    assert repr(Payload(b"x")) == repr(b"x")
