"""The importer of Reuters-21578: a few stories of our own, and the whole collection written as SGML and read
back.
"""

import errno
import hashlib
import os

import pytest
from samples import needs_corpora

from textmargin import load_dataset
from textmargin.datasets import sgml
from textmargin.datasets.files import find, json_rows
from textmargin.datasets.overview import overview
from textmargin.errors import DatasetError

STORIES = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="11" NEWID="1">
<DATE> 1-JAN-1987 10:00:00.01</DATE>
<TOPICS><D>oats</D><D>rye</D></TOPICS>
<PLACES><D>norway</D></PLACES>
<PEOPLE></PEOPLE>
<ORGS><D>fao</D></ORGS>
<EXCHANGES></EXCHANGES>
<COMPANIES></COMPANIES>
<UNKNOWN>
&#5;&#5;&#5;G
</UNKNOWN>
<TEXT>&#2;
<TITLE>OATS &amp; RYE &lt;OAT.X>
 SOWN EARLY</TITLE>
<AUTHOR>    by Somebody</AUTHOR>
<DATELINE>    OSLO, Jan 1 - </DATELINE><BODY>Farmers sowed early, &#34;glad&#34; of the rain.
    They wrote &amp;lt; and meant it.&#127;

 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="12" NEWID="2">
<DATE>27-MAR-1987 00:02:59.13&#5;&#5;&#5;RM</DATE>
<TOPICS><D>rye</D></TOPICS>
<PLACES></PLACES>
<PEOPLE></PEOPLE>
<ORGS></ORGS>
<EXCHANGES></EXCHANGES>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>RYE RISES
</TITLE>Blah blah blah.
&#3;

</TEXT>
</REUTERS>
<REUTERS TOPICS="BYPASS" LEWISSPLIT="TRAIN" CGISPLIT="PUBLISHED-TESTSET" OLDID="13" NEWID="3">
<DATE>2-APR-1987 00:00:00.00</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<PEOPLE></PEOPLE>
<ORGS></ORGS>
<EXCHANGES></EXCHANGES>
<TEXT TYPE="UNPROC">&#2;
  RATES AT NOON
 M\xfcnchen   1.5
 Reuter
&#3;</TEXT>
</REUTERS>
"""
NOTHING = {"places": [], "people": [], "orgs": [], "exchanges": []}
EXPECTED = [
    {
        **{
            "id": 1,
            "oldid": 11,
            "split": "train",
            "lewissplit": "TRAIN",
            "cgisplit": "TRAINING-SET",
            "topics_attr": "YES",
        },
        **{"text_type": "NORM", "date": "1-JAN-1987 10:00:00.01", "topics": ["oats", "rye"]},
        **{**NOTHING, "places": ["norway"], "orgs": ["fao"]},
        **{"title": "OATS & RYE <OAT.X>\n SOWN EARLY", "dateline": "OSLO, Jan 1 -"},
        "body": 'Farmers sowed early, "glad" of the rain.\n    They wrote &lt; and meant it.\n\n Reuter',
        "apte90": True,
    },
    {
        **{
            "id": 2,
            "oldid": 12,
            "split": "test",
            "lewissplit": "TEST",
            "cgisplit": "TRAINING-SET",
            "topics_attr": "YES",
        },
        **{
            "text_type": "BRIEF",
            "date": "27-MAR-1987 00:02:59.13&#5;&#5;&#5;RM",
            "topics": ["rye"],
            **NOTHING,
        },
        **{"title": "RYE RISES", "dateline": "", "body": "", "apte90": True},
    },
    {
        **{"id": 3, "oldid": 13, "split": "unused", "lewissplit": "TRAIN", "cgisplit": "PUBLISHED-TESTSET"},
        **{
            "topics_attr": "BYPASS",
            "text_type": "UNPROC",
            "date": "2-APR-1987 00:00:00.00",
            "topics": [],
            **NOTHING,
        },
        **{"title": "", "dateline": "", "body": "  RATES AT NOON\n München   1.5\n Reuter", "apte90": False},
    },
]


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A distribution of three stories, all in its first file, and an empty cache."""
    monkeypatch.setattr(sgml, "NAMES", ["reut2-000.sgm"])
    monkeypatch.setattr(sgml, "N_TEXTS", 3)
    monkeypatch.delenv("TEXTMARGIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "original"
    folder.mkdir()
    (folder / "reut2-000.sgm").write_bytes(STORIES.encode("latin-1"))
    return folder


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_stories_of_each_type_field_by_field(few):
    rows = json_rows(sgml.import_reuters(few))
    assert [list(row) for row in rows] == [list(row) for row in EXPECTED], "the order of the fields"
    assert rows == EXPECTED


def test_what_was_imported_loads(few):
    path = sgml.import_reuters(few)
    assert path == find("reuters21578.jsonl.gz")
    corpus = load_dataset("reuters21578")
    assert corpus.split == ["train", "test", "unused"]
    assert corpus.labels == [("oats", "rye"), ("rye",), ()]
    assert next(dataset for dataset in overview() if dataset.name == "reuters21578").files[0].state == "own"


def test_the_same_stories_give_the_same_bytes_wherever_they_go(few, tmp_path):
    first = sgml.import_reuters(few).read_bytes()
    crlf = few / "reut2-000.sgm"
    crlf.write_bytes(crlf.read_bytes().replace(b"\n", b"\r\n"))
    second = sgml.import_reuters(few, to=tmp_path / "elsewhere")
    assert second.read_bytes() == first
    assert (
        second.with_name("reuters21578.jsonl.gz.sha256").read_text().split()[0]
        == hashlib.sha256(first).hexdigest()
    )
    assert files_in(tmp_path / "elsewhere") == ["reuters21578.jsonl.gz", "reuters21578.jsonl.gz.sha256"]


def test_progress_is_reported(few):
    shares = []
    sgml.import_reuters(few, progress=shares.append)
    assert shares == [0.7]


def test_missing_files_are_named(tmp_path):
    for name in sgml.NAMES:
        if name not in ("reut2-003.sgm", "reut2-017.sgm"):
            (tmp_path / name).write_bytes(b"")
    with pytest.raises(
        DatasetError, match=r"lacks 2 of the 22 files of Reuters-21578: reut2-003.sgm, reut2-017.sgm\."
    ):
        sgml.import_reuters(tmp_path)
    with pytest.raises(DatasetError, match=r"lacks 22 of the 22 files .*reut2-004.sgm and 17 more"):
        sgml.import_reuters(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: text.rindex("RATES")], "reut2-000.sgm breaks off after line 36"),
        (lambda text: "", "reut2-000.sgm breaks off after line 1"),
        (lambda text: text.replace(' NEWID="2"', ""), "story at line 23 of .*'NEWID'"),
        (lambda text: text.replace("</BODY>", ""), "story at line 2 of .*no </BODY>"),
        (lambda text: text.replace('NEWID="2"', 'NEWID="1"'), "have 3 texts with 2 numbers; expected 3"),
    ],
    ids=["cut", "empty", "attribute", "element", "number"],
)
def test_a_damaged_distribution_is_refused_and_nothing_written(few, tmp_path, change, message):
    path = few / "reut2-000.sgm"
    path.write_bytes(change(STORIES).encode("latin-1"))
    with pytest.raises(DatasetError, match=message):
        sgml.import_reuters(few)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("before", [False, True], ids=["fresh", "over an earlier import"])
def test_a_full_disk_leaves_everything_as_it_was(few, tmp_path, monkeypatch, call, before):
    to = tmp_path / "to"
    if before:
        sgml.import_reuters(few, to=to)
        (few / "reut2-000.sgm").write_bytes(STORIES.replace("OSLO", "BERGEN").encode("latin-1"))
    kept = {path: path.read_bytes() for path in to.rglob("*")}

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DatasetError, match="cannot be written: No space left on device"):
        sgml.import_reuters(few, to=to)
    assert {path: path.read_bytes() for path in to.rglob("*")} == kept


def test_ctrl_c_leaves_nothing_behind(few, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sgml.import_reuters(few, to=tmp_path / "to")
    assert files_in(tmp_path / "to") == []


def test_a_folder_that_cannot_be_written(few, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetError, match=r"cannot be written: (Not a directory|File exists)"):
        sgml.import_reuters(few, to=tmp_path / "file" / "below")


def test_a_folder_without_permission(few, tmp_path, monkeypatch):
    def refused(*_args, **_options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(DatasetError, match="cannot be written: Permission denied"):
        sgml.import_reuters(few, to=tmp_path / "to")


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def written(row):
    """A row as the distribution would have it."""
    lists = "".join(
        f"<{name.upper()}>{''.join(f'<D>{value}</D>' for value in row[name])}</{name.upper()}>\n"
        for name in sgml.LISTS
    )
    title, dateline, body = (escaped(row[name]) for name in ("title", "dateline", "body"))
    text = {
        "NORM": f"<TEXT>&#2;\n<TITLE>{title}</TITLE>\n<DATELINE>    {dateline} "
        f"</DATELINE><BODY>{body}\n&#3;</BODY></TEXT>",
        "BRIEF": f'<TEXT TYPE="BRIEF">&#2;\n******<TITLE>{title}\n</TITLE>Blah blah blah.\n&#3;\n\n</TEXT>',
        "UNPROC": f'<TEXT TYPE="UNPROC">&#2;\n{body}\n&#3;\n\n</TEXT>',
    }[row["text_type"]]
    return (
        f'<REUTERS TOPICS="{row["topics_attr"]}" LEWISSPLIT="{row["lewissplit"]}" '
        f'CGISPLIT="{row["cgisplit"]}" '
        f'OLDID="{row["oldid"]}" '
        f'NEWID="{row["id"]}">\n<DATE>{row["date"]}</DATE>\n{lists}<COMPANIES></COMPANIES>\n'
        f"<UNKNOWN> \n&#5;&#5;&#5;C T\n</UNKNOWN>\n{text}\n</REUTERS>\n"
    )


@needs_corpora
def test_the_whole_collection_comes_back_field_by_field(tmp_path):
    """21,578 rows as SGML and back."""
    rows = json_rows(find("reuters21578.jsonl.gz"))
    for number, name in enumerate(sgml.NAMES):
        stories = "".join(map(written, rows[1000 * number : 1000 * (number + 1)]))
        (tmp_path / name).write_bytes(f'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n{stories}'.encode("latin-1"))
    back = json_rows(sgml.import_reuters(tmp_path, to=tmp_path))
    assert len(back) == 21_578
    for row, other in zip(rows, back, strict=True):
        assert list(row.items()) == list(other.items())
