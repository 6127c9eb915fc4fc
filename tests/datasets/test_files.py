"""Files that are missing, wrong or damaged say so."""

import gzip
import hashlib
import json

import numpy as np
import pytest

from textmargin import load_dataset
from textmargin.datasets.files import catalogue, csv_columns, folders, json_rows, state_of
from textmargin.errors import DatasetError, TextmarginError

MESSAGES = [{"label": "ham", "text": f"see you at {hour}"} for hour in range(200)]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty folder of data, and an empty cache."""
    monkeypatch.setenv("TEXTMARGIN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def vouch(path):
    path.with_name(path.name + ".sha256").write_text(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
    )


def state(name):
    return [state_of(file) for file in catalogue()[name].files]


def test_looks_in_the_named_folder_then_in_the_cache(data, monkeypatch):
    assert folders() == [data, data.parent / "cache" / "textmargin"]
    monkeypatch.delenv("TEXTMARGIN_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(data))
    assert folders() == [data / ".cache" / "textmargin"]


def test_missing_names_the_file_the_folders_and_the_source(data):
    with pytest.raises(DatasetError) as error:
        load_dataset("reuters21578")
    message = str(error.value)
    assert message.startswith(
        f"reuters21578 needs reuters21578.jsonl.gz, which is not in {data} or {data.parent}/cache/textmargin."
    )
    assert "Distribution 1.0" in message
    assert isinstance(error.value, TextmarginError)
    assert isinstance(error.value, OSError)
    assert state("reuters21578") == ["missing"]


def test_wrong_digest_names_both_and_what_to_do(data):
    path = data / "sms_spam.jsonl.gz"
    path.write_bytes(gzip.compress(lines(MESSAGES)))
    with pytest.raises(DatasetError) as error:
        load_dataset("sms_spam")
    message = str(error.value)
    assert str(path) in message
    assert hashlib.sha256(path.read_bytes()).hexdigest() in message
    assert "8fa768c77b7ceff8b051ff3b69ca258a9418f349ec7b97d5391bc5a9f3d01d1b" in message
    assert "bytes instead of 216,589" in message
    assert "sha256sum sms_spam.jsonl.gz > sms_spam.jsonl.gz.sha256" in message
    assert state("sms_spam") == ["wrong"]


def test_a_file_of_ones_own_is_vouched_for_beside_it(data):
    path = data / "sms_spam.jsonl.gz"
    path.write_bytes(gzip.compress(lines(MESSAGES)))
    vouch(path)
    assert load_dataset("sms_spam").texts == [message["text"] for message in MESSAGES]
    assert state("sms_spam") == ["own"]


def test_a_file_that_changes_is_looked_at_again(data):
    path = data / "sms_spam.jsonl.gz"
    path.write_bytes(gzip.compress(lines(MESSAGES)))
    vouch(path)
    load_dataset("sms_spam")
    path.write_bytes(gzip.compress(lines(MESSAGES[:5])))
    with pytest.raises(DatasetError, match="is not the file it should be"):
        load_dataset("sms_spam")


def test_the_cache_is_found_without_the_variable(data, monkeypatch):
    monkeypatch.delenv("TEXTMARGIN_DATA")
    cache = data.parent / "cache" / "textmargin"
    cache.mkdir(parents=True)
    (cache / "sms_spam.jsonl.gz").write_bytes(gzip.compress(lines(MESSAGES)))
    vouch(cache / "sms_spam.jsonl.gz")
    assert len(load_dataset("sms_spam")) == 200


def test_truncated_gzip_says_where_it_breaks_off(data):
    path = data / "sms_spam.jsonl.gz"
    noise = np.random.default_rng(0)
    long = [{"label": "ham", "text": noise.bytes(200).hex()} for _ in range(500)]
    whole = gzip.compress(lines(long))
    path.write_bytes(whole[: len(whole) // 2])
    vouch(path)
    with pytest.raises(DatasetError, match=r"sms_spam.jsonl.gz breaks off or is damaged after line \d+"):
        load_dataset("sms_spam")


@pytest.mark.parametrize("content", [b"no gzip at all", b""], ids=["other format", "empty"])
def test_something_else_under_the_name(data, content):
    path = data / "sms_spam.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"is not the file it should be"):
        load_dataset("sms_spam")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"label": "ham", "text"\n', "Line 3 of .*lines.jsonl.gz is not JSON"),
        (b'["ham"]\n', "Line 3 of .*lines.jsonl.gz should hold the keys label, text"),
        (b'{"label": "ham"}\n', "Line 3 of .*lines.jsonl.gz should hold the keys label, text; it begins"),
        (b'{"label": "\xff"}\n', "lines.jsonl.gz breaks off or is damaged after line"),
    ],
    ids=["cut", "list", "key", "utf-8"],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress(lines(MESSAGES[:2]) + line))
    with pytest.raises(DatasetError, match=message):
        json_rows(path)


def test_a_row_with_too_few_values_is_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("word,count\ncorn,1\nwheat\n")
    with pytest.raises(DatasetError, match=r"Line 3 of .*table.csv has 1 values for 2 columns"):
        csv_columns(path)


def test_columns_are_as_narrow_as_their_values_allow(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b'word,count,share\n"corn, raw",1,0.5\nNone,2,\n'))
    columns = csv_columns(path)
    assert columns["word"].tolist() == ["corn, raw", "None"]
    assert columns["count"].dtype == np.int64
    np.testing.assert_array_equal(columns["share"], [0.5, np.nan])
