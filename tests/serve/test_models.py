"""A model whose file is replaced while it answers."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from serve.services import TestClient, fitted, service

from textmargin.errors import ModelFileError
from textmargin.serve import create_app
from textmargin.serve.models import load_with_digest

ASKED = {"texts": ["wheat and corn"]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    fitted().save(folder / "one.tmm")
    fitted(C=7.0).save(folder / "two.tmm")
    return folder


def replace(source, target):
    shutil.copy(source, target.with_suffix(".new"))
    target.with_suffix(".new").rename(target)


def test_the_file_is_replaced_without_a_dropped_request(files, tmp_path):
    served = tmp_path / "model.tmm"
    shutil.copy(files / "one.tmm", served)
    (one, first), (two, second) = (load_with_digest(files / f"{name}.tmm") for name in ("one", "two"))
    scores = {
        digest: model.decide(ASKED["texts"]).scores[0].tolist()
        for digest, model in ((first, one), (second, two))
    }
    with service(served, "--watch-model") as (process, url), httpx.Client(base_url=url) as client:
        end = time.monotonic() + 3

        def ask(_):
            found = []
            while time.monotonic() < end:
                found.append(client.post("/predict", json=ASKED))
            return found

        with ThreadPoolExecutor(4) as clients:
            asked = clients.map(ask, range(4))
            time.sleep(0.5)
            replace(files / "two.tmm", served)
            answers = [answer for own in asked for answer in own]
        assert {answer.status_code for answer in answers} == {200}
        for answer in answers:  # the model that is named is the one that answered
            own = list(answer.json()["decisions"][0]["scores"].values())
            assert own == pytest.approx(scores[answer.headers["x-model-digest"]], abs=1e-6)
        assert {answer.headers["x-model-digest"] for answer in answers} == {first, second}
        assert client.post("/explain", json={"text": "wheat"}).headers["x-model-digest"] == second
        shown = client.get("/metrics").text
        assert f'textmargin_model_info{{digest="{second}"}} 1' in shown
        assert "textmargin_models_replaced_total 1" in shown
        process.terminate()
        assert process.wait(20) == 0
        assert f"model {second} answers from now on" in process.stderr.read()


def until(client, line, seconds=20):
    end = time.monotonic() + seconds
    while line not in client.get("/metrics").text:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_bad_file_is_refused_and_the_model_before_goes_on(files, tmp_path, caplog):
    served = tmp_path / "model.tmm"
    shutil.copy(files / "one.tmm", served)
    model, digest = load_with_digest(served)
    app = create_app(model, digest=digest, model_file=served, watch_seconds=0.05)
    with TestClient(app) as client:
        served.write_bytes((files / "two.tmm").read_bytes()[:5000])  # half a file, not replaced as a whole
        until(client, "models_refused_total 1")
        assert client.post("/predict", json=ASKED).headers["x-model-digest"] == digest
        served.unlink()
        until(client, "models_refused_total 2")
        assert client.post("/predict", json=ASKED).headers["x-model-digest"] == digest
        time.sleep(0.3)
        assert "models_refused_total 2" in client.get("/metrics").text  # said once
        replace(files / "two.tmm", served)
        until(client, "models_replaced_total 1")
        assert client.post("/predict", json=ASKED).headers["x-model-digest"] == load_with_digest(served)[1]
    assert f"model {digest} goes on" in caplog.text


def test_a_file_that_is_written_again_as_it_was_is_no_other(files, tmp_path):
    served = tmp_path / "model.tmm"
    shutil.copy(files / "one.tmm", served)
    model, digest = load_with_digest(served)
    with TestClient(create_app(model, digest=digest, model_file=served, watch_seconds=0.05)) as client:
        replace(files / "one.tmm", served)
        time.sleep(0.5)
        assert "models_replaced_total 0" in client.get("/metrics").text


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        load_with_digest(tmp_path / "none.tmm")


def test_without_a_file_no_digest_is_made_up():
    with TestClient(create_app(fitted())) as client:
        assert "x-model-digest" not in client.post("/predict", json=ASKED).headers
