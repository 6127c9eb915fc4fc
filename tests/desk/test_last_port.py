"""A desk listens again where it did, so that a browser finds what waits for it; what opens it is new each
time.
"""

import socket

import pytest

from textmargin.desk.last_port import last_port, port_path, remember_port


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def test_the_port_stays_the_same_on_a_host(tmp_path):
    path, port = tmp_path / "work.desk", free_port()
    assert last_port(path, "127.0.0.1") == 0
    remember_port(path, "127.0.0.1", port)
    assert last_port(path, "127.0.0.1") == port
    assert last_port(path, "::1") == 0
    assert [one.name for one in tmp_path.iterdir()] == [".work.desk.port"]


def test_no_token_is_written_down(tmp_path):
    remember_port(tmp_path / "work.desk", "127.0.0.1", 4711)
    assert port_path(tmp_path / "work.desk").read_text() == '{"host": "127.0.0.1", "port": 4711}'


def test_where_somebody_else_listens_the_port_is_another(tmp_path):
    path = tmp_path / "work.desk"
    with socket.create_server(("127.0.0.1", 0)) as other:
        remember_port(path, "127.0.0.1", other.getsockname()[1])
        assert last_port(path, "127.0.0.1") == 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"host": "127.0.0.1", "port": 99999}',
        '{"host": "127.0.0.1", "port": Infinity}',
        "\x00",
    ],
)
def test_a_file_that_says_nothing_is_passed_over(tmp_path, content):
    path = tmp_path / "work.desk"
    port_path(path).write_text(content)
    assert last_port(path, "127.0.0.1") == 0


def test_where_nothing_can_be_written_the_desk_opens_all_the_same(tmp_path):
    remember_port(tmp_path / "nowhere" / "work.desk", "127.0.0.1", 1)
