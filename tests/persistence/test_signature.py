"""Model files that are signed: who has the key wrote them, whole as they are, and nobody else."""

import hashlib
import os
import random
import shutil
import struct
import subprocess
import sys
import time
import warnings

import pytest
from model_files import entries_of, outcome
from samples import corpus
from serve.services import TestClient

from textmargin import ModelConfig, TextClassifier, load, save
from textmargin.decider import Decider, load_decider
from textmargin.errors import ModelFileError, TextmarginWarning
from textmargin.persistence import _seal, load_classifier, read_key, sign
from textmargin.persistence._archive import pack
from textmargin.serve import create_app
from textmargin.serve.models import load_with_digest

TEXTS, LABELS = corpus(40)
NEW = corpus(10, seed=1)[0]
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
NOT_WITH_THIS_KEY = (
    "is not signed with this key; it was signed with another, or altered by who has not got it"
)


@pytest.fixture(scope="module")
def model():
    return TextClassifier().fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def signed(model, tmp_path_factory):
    """The bytes of a signed file."""
    path = tmp_path_factory.mktemp("signed") / "model.tmm"
    model.save(path, key=KEY)
    return path.read_bytes()


@pytest.fixture
def refuses(tmp_path):
    """That content is refused with a key, by all who load, in words that name the file."""

    def check(content, message, key=KEY):
        path = tmp_path / "model.tmm"
        path.write_bytes(content)
        for read in (load, load_classifier, load_decider):
            with pytest.raises(ModelFileError, match=message) as caught:
                read(path, key=key)
            assert str(caught.value).startswith(str(path))

    return check


def resealed(content):
    """The same bytes under a digest that holds, which anybody can make."""
    body = content[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def unsigned(content):
    """The same file without its signature, as `save` without a key writes it."""
    return pack(entries_of(content))


def test_signed_file_decides_as_the_model_with_its_key_and_without(signed, model, tmp_path):
    path = tmp_path / "model.tmm"
    path.write_bytes(signed)
    for key in (KEY, None):
        assert outcome(load(path, key=key), NEW) == outcome(model, NEW)
        decider = load_decider(path, key=key)
        assert isinstance(decider, Decider)
        assert decider.decide(NEW).labels == model.decide(NEW).labels


def test_same_model_and_key_give_the_same_bytes_and_another_key_others(signed, model, tmp_path):
    save(model, tmp_path / "again.tmm", key=KEY)
    assert (tmp_path / "again.tmm").read_bytes() == signed
    save(model, tmp_path / "again.tmm", key=OTHER)
    assert (tmp_path / "again.tmm").read_bytes() != signed


def test_a_file_that_is_not_signed_is_refused_where_a_key_is_given(signed, refuses):
    refuses(unsigned(signed), "is not signed, and a key was given")


def test_another_key(signed, refuses):
    refuses(signed, NOT_WITH_THIS_KEY, OTHER)
    refuses(signed, NOT_WITH_THIS_KEY, KEY + b"\0\1")


def test_every_flipped_byte_is_noticed_under_a_digest_made_anew(signed, tmp_path):
    """All bytes of the end, some of the others; no one gets a model, not even the same."""
    path = tmp_path / "model.tmm"
    rng = random.Random(0)
    places = {*range(0, len(signed) - 600, 23), *range(len(signed) - 600, len(signed) - 64)}
    for place in places:
        damaged = bytearray(signed)
        damaged[place] ^= 1 << rng.randrange(8)
        for content in (bytes(damaged), resealed(bytes(damaged))):
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                load(path, key=KEY)
    for place in range(len(signed) - 64, len(signed)):
        damaged = bytearray(signed)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match="is damaged"):
            load(path, key=KEY)


def test_content_altered_under_its_old_signature_and_a_new_digest(signed, refuses):
    place = signed.index(b"arrays/0.npy") + 200
    refuses(resealed(signed[:place] + bytes([signed[place] ^ 1]) + signed[place + 1 :]), NOT_WITH_THIS_KEY)


def test_signature_removed(signed, refuses):
    """Cut out, with the length of the comment and the digest made to fit: a file as `save` would write it
    without a key.
    """
    start = signed.rindex(_seal._SIGNATURE)
    bare = signed[: start - 2] + struct.pack("<H", _seal._N_SEAL) + signed[start + _seal._N_SIGNATURE :]
    assert resealed(bare) == unsigned(signed)
    refuses(resealed(bare), "is not signed")
    refuses(resealed(signed[:start] + signed[start + _seal._N_SIGNATURE :]), "is not signed")


def test_signature_of_another_model(signed, refuses, tmp_path):
    other = TextClassifier().fit(TEXTS[::-1], LABELS)
    other.save(tmp_path / "other.tmm", key=KEY)
    content = (tmp_path / "other.tmm").read_bytes()
    start, own = content.rindex(_seal._SIGNATURE), signed.rindex(_seal._SIGNATURE)
    n = _seal._N_SIGNATURE
    refuses(resealed(content[:start] + signed[own : own + n] + content[start + n :]), NOT_WITH_THIS_KEY)


def test_signature_without_a_key_of_digits_that_are_none(signed, tmp_path):
    start = signed.rindex(_seal._SIGNATURE) + len(_seal._SIGNATURE)
    (tmp_path / "model.tmm").write_bytes(resealed(signed[:start] + b"Z" * 64 + signed[start + 64 :]))
    with pytest.raises(ModelFileError, match="no archive of textmargin"):
        load(tmp_path / "model.tmm")


def test_truncated(signed, refuses):
    for n in (0, 1, 30, 1000, len(signed) // 2, *range(len(signed) - 200, len(signed), 7)):
        refuses(signed[:n], "is empty|is cut off|is not a textmargin model")


def test_an_older_model_of_the_same_key_is_taken(signed, tmp_path):
    """A signature has no date: who can put back an earlier file of yours is not found out. The docs say
    so.
    """
    path = tmp_path / "model.tmm"
    TextClassifier().fit(TEXTS[:20], LABELS[:20]).save(path, key=KEY)
    path.write_bytes(signed)
    load(path, key=KEY)


def test_file_that_changes_after_it_was_checked_is_built_from_what_was_checked(signed, tmp_path, monkeypatch):
    path = tmp_path / "model.tmm"
    path.write_bytes(signed)
    check = _seal._check_signature

    def check_and_overwrite(*args):
        check(*args)
        with path.open("r+b") as file:
            file.write(bytes(len(signed)))

    monkeypatch.setattr(_seal, "_check_signature", check_and_overwrite)
    assert load(path, key=KEY).predict(NEW).shape == (10,)


def test_sign_makes_what_save_with_the_key_makes(signed, model, tmp_path):
    path = tmp_path / "model.tmm"
    model.save(path)
    sign(path, OTHER)
    with pytest.raises(ModelFileError, match=NOT_WITH_THIS_KEY):
        load(path, key=KEY)
    sign(path, KEY)
    assert path.read_bytes() == signed


def test_what_cannot_be_loaded_is_not_signed(signed, tmp_path):
    path = tmp_path / "model.tmm"
    path.write_bytes(signed[:-1])
    with pytest.raises(ModelFileError):
        sign(path, KEY)
    assert path.read_bytes() == signed[:-1]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (b"short", "key has 5 bytes, and needs at least 32; make one"),
        (b"", "key has 0 bytes"),
        (bytes(64), "key is one byte, 64 times"),
        ("x" * 32, "key must be bytes; got a str"),
        (bytearray(32), "key must be bytes; got a bytearray"),
    ],
)
def test_keys_that_are_none(key, message, model, signed, tmp_path):
    path = tmp_path / "model.tmm"
    path.write_bytes(signed)
    for use in (load, load_decider):
        with pytest.raises(ModelFileError, match=message):
            use(path, key=key)
    with pytest.raises(ModelFileError, match=message):
        model.save(tmp_path / "new.tmm", key=key)
    assert not (tmp_path / "new.tmm").exists()


def key_file(folder, content=KEY, mode=0o600):
    path = folder / "key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_key_files(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_key(key_file(tmp_path, KEY + b"\n")) == KEY + b"\n"  # bytes are bytes
        for content, message in (
            (b"", "is empty; make one"),
            (b"abc\n", "has 4 bytes"),
            (bytes(40), "one byte"),
        ):
            with pytest.raises(ModelFileError, match=rf"The key .*key .*{message}") as caught:
                read_key(key_file(tmp_path, content))
            assert "abc" not in str(caught.value)
        with pytest.raises(ModelFileError, match="has more than 1,000,000 bytes"):
            read_key(key_file(tmp_path, KEY * 40_000))
        with pytest.raises(ModelFileError, match="cannot be read: No such file"):
            read_key(tmp_path / "none")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_key_that_others_can_read_or_change_is_told(mode, tmp_path):
    with pytest.warns(
        TextmarginWarning, match=f"is open to others than its owner \\(mode {mode:o}\\).*chmod 600"
    ):
        assert read_key(key_file(tmp_path, mode=mode)) == KEY


def test_earlier_model_must_be_signed_too(model, tmp_path):
    model.save(tmp_path / "bare.tmm")
    with pytest.raises(ModelFileError, match="is not signed"):
        ModelConfig(prior_model=tmp_path / "bare.tmm", key=KEY).build()
    model.save(tmp_path / "signed.tmm", key=KEY)
    config = ModelConfig(prior_model=tmp_path / "signed.tmm", key=KEY)
    assert config.build().knowledge is not None
    assert repr(KEY)[2:10] not in repr(config)


def test_watched_file_that_is_not_signed_is_refused_and_the_model_before_goes_on(model, tmp_path):
    served = tmp_path / "model.tmm"
    model.save(served, key=KEY)
    with pytest.raises(ModelFileError, match=NOT_WITH_THIS_KEY):
        load_with_digest(served, OTHER)
    first, digest = load_with_digest(served, KEY)
    asked = {"texts": ["wheat and corn"]}
    with TestClient(
        create_app(first, digest=digest, model_file=served, watch_seconds=0.05, key=KEY)
    ) as client:

        def until(line):
            end = time.monotonic() + 20
            while line not in client.get("/metrics").text:
                assert time.monotonic() < end
                time.sleep(0.02)

        other = TextClassifier().fit(TEXTS[:20], LABELS[:20])
        for k, key in enumerate((None, OTHER), start=1):
            other.save(tmp_path / "new.tmm", key=key)
            (tmp_path / "new.tmm").rename(served)
            until(f"models_refused_total {k}")
            assert client.post("/predict", json=asked).headers["x-model-digest"] == digest
        other.save(tmp_path / "new.tmm", key=KEY)
        (tmp_path / "new.tmm").rename(served)
        until("models_replaced_total 1")
        assert client.post("/predict", json=asked).headers["x-model-digest"] != digest


def run(folder, *words):
    command = [sys.executable, "-m", "textmargin", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, env=os.environ)


def test_commands_with_a_key_take_models_that_are_signed_with_it_and_no_others(tmp_path):
    key_file(tmp_path)
    (tmp_path / "other").write_bytes(OTHER)
    (tmp_path / "other").chmod(0o600)
    rows = "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True))
    (tmp_path / "a.csv").write_text("text,label\n" + rows)
    assert run(tmp_path, "train", "a.csv", "-o", "m.tmm", "--key", "key").returncode == 0
    load(tmp_path / "m.tmm", key=KEY)
    told = run(tmp_path, "train", "a.csv", "-o", "key", "--key", "key")
    assert told.returncode == 2
    assert "key would replace key" in told.stderr
    for words in (
        ("predict", "m.tmm", "a.csv"),
        ("evaluate", "m.tmm", "a.csv"),
        ("explain", "m.tmm", "wheat"),
        ("threshold", "m.tmm", "--hit", "3", "-o", "t.tmm"),
    ):
        assert run(tmp_path, *words, "--key", "key").returncode == 0
        told = run(tmp_path, *words, "--key", "other")
        assert told.returncode == 2
        assert "m.tmm is not signed with this key" in told.stderr
    load(tmp_path / "t.tmm", key=KEY)
    told = run(tmp_path, "serve", "m.tmm", "--port", "0", "--key", "other")
    assert (told.returncode, "not signed with this key" in told.stderr) == (2, True)
    shutil.copy(tmp_path / "m.tmm", tmp_path / "n.tmm")
    told = run(tmp_path, "sign", "n.tmm", "--key", "other")
    assert (told.returncode, told.stdout) == (0, "Signed n.tmm\n")
    load(tmp_path / "n.tmm", key=OTHER)
    told = run(tmp_path, "sign", "n.tmm", "--key", "n.tmm")
    assert told.returncode == 2
    (tmp_path / "short").write_bytes(b"secret")
    told = run(tmp_path, "predict", "m.tmm", "a.csv", "--key", "short")
    assert (told.returncode, "The key short cannot be used: key has 6 bytes" in told.stderr) == (2, True)
