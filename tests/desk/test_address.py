"""A desk is found again where it was, by its owner alone."""

import os
import socket
import stat

import pytest

from textmargin.desk.address import DeskAddress, address_path, last_address, remember_address


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def test_port_and_token_stay_the_same(tmp_path):
    path = tmp_path / "work.desk"
    first = last_address(path, "127.0.0.1")
    assert first.port == 0
    assert len(first.token) >= 32
    assert last_address(path, "127.0.0.1").token != first.token  # nothing is written by asking
    used = first._replace(port=free_port())
    remember_address(path, used)
    assert last_address(path, "127.0.0.1") == used
    assert last_address(path, "::1").token != used.token
    assert [one.name for one in tmp_path.iterdir()] == [".work.desk.address"]


@pytest.mark.skipif(os.name != "posix", reason="who may read a file is said otherwise here")
def test_a_token_that_others_may_read_is_not_used_again(tmp_path):
    path = tmp_path / "work.desk"
    used = DeskAddress("127.0.0.1", free_port(), "t" * 32)
    remember_address(path, used)
    assert stat.S_IMODE(address_path(path).stat().st_mode) == 0o600
    address_path(path).chmod(0o644)
    assert last_address(path, "127.0.0.1").token != used.token


def test_where_somebody_else_listens_port_and_token_are_new(tmp_path):
    path = tmp_path / "work.desk"
    with socket.create_server(("127.0.0.1", 0)) as other:
        used = DeskAddress("127.0.0.1", other.getsockname()[1], "t" * 32)
        remember_address(path, used)
        found = last_address(path, "127.0.0.1")
    assert found.port == 0
    assert found.token != used.token


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"host": "127.0.0.1", "port": 99999, "token": "tttttttttttttttt"}', "\x00"])
def test_a_file_that_says_nothing_is_passed_over(tmp_path, content):
    path = tmp_path / "work.desk"
    address_path(path).write_text(content)
    address_path(path).chmod(0o600)
    assert last_address(path, "127.0.0.1").port == 0


def test_where_nothing_can_be_written_the_desk_opens_all_the_same(tmp_path):
    remember_address(tmp_path / "nowhere" / "work.desk", DeskAddress("127.0.0.1", 1, "t" * 32))
