"""The desk over HTTP: who may ask what, what is refused and how, and that the page is complete."""

import json
import re

import pytest
from desk.pages import TOKEN
from fastapi.testclient import TestClient

from textmargin.desk.app import HEADERS, create_desk_app, page_files
from textmargin.errors import ActError, DeskError

READS = ["/api/state", "/api/next", "/api/text/0", "/api/search?query=a", "/api/similar/0", "/api/export/csv"]
WRITES = ["/api/acts"]


def client_of(desk, token=TOKEN, base_url="http://127.0.0.1:8000", **settings):
    app = create_desk_app(desk, token=TOKEN, **{"annotator": "anna", **settings})
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return TestClient(app, base_url=base_url, headers=headers, raise_server_exceptions=False)


@pytest.fixture
def client(desk):
    return client_of(desk)


def act(kind, content, **more):
    return {"id": "a" * 32, "annotator": "anna", "kind": kind, "content": content, **more}


def label(text=0, name="network", **more):
    return act("label", {"text": text, "labels": [name], "source": "tie", "seconds": 1.5}, **more)


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
def test_nothing_of_the_project_without_the_token(desk, token):
    stranger = client_of(desk, token)
    for path in READS:
        assert stranger.get(path).status_code == 401
    for path in WRITES:
        assert stranger.post(path, json=label()).status_code == 401
    assert desk.acts == []


def test_a_page_goes_on_with_a_key_of_this_process_and_knows_its_answers_by_a_seal(desk):
    client = client_of(desk)
    first = client.get("/api/reader")
    key, seal = first.json()["key"], first.json()["seal"]
    assert TOKEN not in (key, seal)
    # the token may be anybody's who read it in an address; the seal is of the key
    assert "X-Desk-Seal" not in first.headers
    with_key = {"Authorization": f"Bearer {key}"}
    for path, status in (("/api/state", 200), ("/api/nothing", 404), ("/api/search", 422)):
        answer = client.get(path, headers=with_key)
        assert (answer.status_code, answer.headers["X-Desk-Seal"]) == (status, seal)
    for other in (f"{key}x", seal, ""):
        answer = client.get("/api/state", headers={"Authorization": f"Bearer {other}"})
        assert answer.status_code == 401
        assert "X-Desk-Seal" not in answer.headers
    # another process: the key is worth nothing
    assert client_of(desk).get("/api/state", headers=with_key).status_code == 401


def test_the_page_and_its_modules_need_no_token_and_hold_nothing_of_the_project(desk):
    stranger = client_of(desk, None)
    page = stranger.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for name in page_files():
        assert stranger.get(f"/static/{name}").status_code == 200
        assert desk.project.texts[0] not in stranger.get(f"/static/{name}").text


def test_all_that_the_page_loads_is_there_and_nothing_comes_from_elsewhere():
    files = {name: content.decode() for name, content in page_files().items()}
    wanted = set(re.findall(r'(?:src|href)="/static/([^"]+)"', files["index.html"]))
    for name, content in files.items():
        if name.endswith(".js"):
            wanted |= set(re.findall(r'from "\./([^"]+)"', content))
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", content
        ), name
        assert re.findall(r"https?://[^\s\"']+", content) in ([], ["http://www.w3.org/2000/svg"]), name
    assert wanted <= set(files)
    assert "page.css" in wanted
    assert "main.js" in wanted


def test_every_answer_forbids_what_is_not_the_desks_own(client, desk):
    answers = [
        client.get("/"),
        client.get("/static/main.js"),
        client.get("/nowhere"),
        client_of(desk, None).get("/api/state"),
    ]
    answers += [
        client.get("/api/state"),
        client.get("/", headers={"Host": "evil.example"}),
        client.post("/api/acts", content=b"{"),
    ]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "[evil]",
        "0x7f.1",
        "10.0.0.7",
    ],
)
def test_a_strangers_name_for_this_machine_is_refused(desk, host):
    """A page of evil.example whose name server answers 127.0.0.1 would be of the desk's own origin."""
    answer = client_of(desk).get("/api/state", headers={"Host": host})
    assert answer.status_code == 421
    assert desk.project.texts[0] not in answer.text


def test_a_page_from_elsewhere_that_knows_the_token_acts_on_nothing(client, desk):
    before = client.get("/api/state").json()
    for origin in (
        "http://evil.example",
        "null",
        "http://localhost:1",
        "https://127.0.0.1.evil.example",
        "http://[",
    ):
        assert client.post("/api/acts", json=label(), headers={"Origin": origin}).status_code == 403
    assert client.get("/api/state").json() == before
    assert client.post("/api/acts", json=label(), headers={"Origin": str(client.base_url)}).status_code == 200


def test_own_names_are_taken(desk):
    for host in ("127.0.0.1:8000", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8000"):
        assert client_of(desk).get("/api/state", headers={"Host": host}).status_code == 200
    elsewhere = client_of(desk, hosts=("*",))
    assert elsewhere.get("/api/state", headers={"Host": "10.0.0.7:80"}).status_code == 200
    named = client_of(desk, hosts=("Reader.lan",))
    assert named.get("/api/state", headers={"Host": "reader.LAN:8000"}).status_code == 200


def test_no_file_but_the_pages_own(client):
    for path in (
        "/static/app.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/",
        "/static/page/",
    ):
        assert client.get(path).status_code in (401, 404)


def test_without_a_name_the_desk_asks_for_one(desk):
    answer = client_of(desk, annotator=None).get("/api/state")
    assert answer.status_code == 422
    assert "annotator" in answer.json()["detail"]
    assert client_of(desk, annotator=None).get("/api/state?annotator=ben").json()["annotator"] == "ben"
    assert client_of(desk).get("/api/state").json()["annotator"] == "anna"


def test_an_act_is_answered_with_the_new_state_and_what_comes_next(client, desk):
    answer = client.post("/api/acts", json=label()).json()
    assert answer["state"]["project"]["n_labelled"] == 1
    assert answer["next"]["text"] == 1
    assert desk.labels == {0: {"anna": ["network"]}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"act"',
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({}).encode(),
        json.dumps(act("label", [])).encode(),
        json.dumps(act("label", None)).encode(),
        json.dumps(act(7, {})).encode(),
        json.dumps(act("label", {}, annotator="")).encode(),
        json.dumps(act("label", {}, annotator="x" * 1000)).encode(),
        json.dumps(act("label", {}, id="")).encode(),
        json.dumps(act("label", {}, more=1)).encode(),
        json.dumps(label(name="no such class")).encode(),
    ],
)
def test_what_is_no_act_is_refused_in_a_sentence(client, desk, body):
    answer = client.post("/api/acts", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)
    assert desk.acts == []


@pytest.mark.parametrize("path", ["/api/text/9999", "/api/text/-1", "/api/text/x", "/api/search"])
def test_texts_that_are_not_there(client, path):
    answer = client.get(path)
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


def test_a_body_over_the_limit_is_refused(desk):
    small = client_of(desk, max_bytes=1000)
    assert small.post("/api/acts", json=label(name="x" * 2000)).status_code == 413
    assert small.post("/api/acts", content=iter([b"{}"])).status_code == 411  # in chunks, of any length
    assert small.post("/api/acts", json=label()).status_code == 200


def test_what_cannot_be_stored_just_now_is_to_be_sent_again(client, desk):
    desk.broken = DeskError("work.desk cannot be written: No space left on device.")
    desk.broken.__cause__ = OSError(28, "No space left on device")
    answer = client.post("/api/acts", json=label())
    assert answer.status_code == 503
    assert "No space left" in answer.json()["detail"]
    for mistake in (ActError("there is no text 7."), DeskError("anna has nothing to take back.")):
        desk.broken = mistake
        assert client.post("/api/acts", json=label()).status_code == 422
    desk.broken = RuntimeError("a fault of ours")
    assert client.post("/api/acts", json=label()).status_code == 500


def test_half_a_surrogate_pair_comes_through(desk):
    """Texts of broken files have them; UTF-8 cannot say them."""
    desk.project.texts[0] = "broken \ud83d text"
    answer = client_of(desk).get("/api/text/0")
    assert answer.status_code == 200
    assert json.loads(answer.content)["content"] == "broken \ud83d text"


def test_exports_are_files_with_a_name(client, desk):
    client.post("/api/acts", json=label())
    answer = client.get("/api/export/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="tickets.csv"'
    assert answer.text.startswith("id,text,label\n1,")
    assert client.get("/api/export/exe").status_code == 404
    desk.export = lambda kind: ('we"ird\r\nname é.csv', b"")
    assert (
        client.get("/api/export/csv").headers["content-disposition"]
        == 'attachment; filename="we%22ird%0D%0Aname%20%C3%A9.csv"'
    )
