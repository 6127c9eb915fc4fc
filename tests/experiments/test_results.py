"""Tables beside the papers' numbers: kept, compared and shown."""

import json
from pathlib import Path

import pytest

from textmargin import SubsequenceKernel
from textmargin.errors import OutputError, TextmarginError
from textmargin.experiments.catalogue import EXPERIMENTS, experiment
from textmargin.experiments.rendering import to_markdown, write_page
from textmargin.experiments.reproduce import load_results, reproduce
from textmargin.experiments.result import Result, conditions
from textmargin.experiments.run import Experiment, Run
from textmargin.experiments.table import Table, Value, published

DOCS = Path(__file__).parents[2] / "docs"


def result(**changes):
    table = Table.beside(
        {"corn": {"F1": 0.75}, "wheat": {"F1": 0.5}},
        {"corn": {"F1": [0.8, 0.9], "texts": 38}},
        ["F1", "texts"],
        decimals={"texts": 0},
        notes=["<b>two draws</b>"],
    )
    facts = {
        "name": "strings-2",
        "title": "Corn",
        "paper": "A paper",
        "quick": False,
        "parameters": {"C": 2.0},
        "seeds": [0, 1],
    }
    facts |= {"seconds": 1.5, "n_kernel_evaluations": None, "table": table}
    return Result(**{**facts, **conditions(), **changes})


def test_a_value_knows_its_gap_and_spread():
    value = result().table.rows["corn"]["F1"]
    assert value.ours == pytest.approx(0.85)
    assert value.spread == pytest.approx(0.0707, abs=1e-4)
    assert value.gap == pytest.approx(0.1)
    assert Value(0.5).gap is None


def test_what_only_one_side_has_stays():
    table = result().table
    assert table.rows["wheat"] == {"F1": Value(None, None, 0.5)}
    assert table.published_columns == ["F1"]


def test_published_numbers_agree_with_the_papers_own_sums():
    assert (
        sum(row["documents"] for row in published("reading", "1").values())
        == published("reading", "all")["all"]["documents"]
    )
    hours = {way: row["hours"] for way, row in published("thresholds", "hours").items()}
    (ratios,) = published("thresholds", "costs").values()
    assert hours["asymmetric costs"] / hours["thresholds"] == ratios["time of costs over own"]
    assert published("strings", "1")["5 S-K"] == published("strings", "2")["earn, 5 S-K"]
    for topic in ("earn", "acq", "crude", "corn"):
        assert published("strings", "length")["SSK 5"][topic] == published("strings", "decay")["0.5"][topic]
        assert published("strings", "length")["n-grams 5"][topic] == published("strings", "decay")["0"][topic]
        assert (
            published("strings", "length")["words"][topic] == published("strings", "2")[f"{topic}, W-K"]["F1"]
        )


def test_stored_and_read_again(tmp_path):
    before = result()
    assert Result.load(before.save(tmp_path / "new" / "folder")) == before


def test_a_quick_run_does_not_replace_a_full_one(tmp_path):
    assert result().save(tmp_path) != result(quick=True).save(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": "x"}', '{"table": {"rows": {"a": 3}}}'])
def test_a_damaged_result_says_so(tmp_path, content):
    path = tmp_path / "strings-2.json"
    path.write_text(content)
    with pytest.raises(OutputError, match="not a whole result"):
        Result.load(path)


def test_a_damaged_result_is_replaced_by_running_the_table_again(tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "few", Experiment("few", "strings", "Few", "unknown:nothing", 1, ()))
    monkeypatch.setattr(Experiment, "run", lambda self, run: result(name="few"))
    (tmp_path / "few.json").write_text("{")
    (outcome,) = reproduce(["few", "few"], Run(results=tmp_path))
    assert outcome.differences is None
    assert Result.load(outcome.path) == outcome.result


def test_the_code_and_the_data_are_versions_too():
    found = conditions(["desk"])["versions"]
    assert len(found["code"]) == 12
    assert "data desk" in found


def test_shown_in_markdown():
    page = to_markdown(result())
    assert "| corn | .750 | .850 ± .071 | +.100 | 38 |" in page
    assert "| wheat | .500 | – | – | – |" in page


def test_the_documentation_is_what_the_stored_results_say(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results").symlink_to(DOCS / "results")
    monkeypatch.chdir(tmp_path)
    write_page("docs/results", "docs/reproductions.md")
    assert Path("docs/reproductions.md").read_text() == (DOCS / "reproductions.md").read_text()
    with pytest.raises(OutputError, match="no stored results"):
        write_page("nothing", "page.md")


def test_every_difference_is_named():
    before = result()
    assert before.differences(result()) == []
    assert before.differences(result(seeds=[0, 2])) == ["seeds: [0, 1] → [0, 2]"]
    nothing = Table(["F1"], {"corn": {"F1": Value(float("nan"))}})
    assert result(table=nothing).differences(result(table=nothing)) == []
    table = Table.beside({}, {"corn": {"F1": [0.8, 0.9000000000000002], "texts": 38}}, ["F1", "texts"])
    found = before.differences(result(parameters={"C": 1.0}, table=table))
    assert found[0] == "C: 2.0 → 1.0"
    assert any(line.startswith("corn, F1") for line in found)


@pytest.mark.parametrize("path", sorted((DOCS / "results").glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_result_says_what_it_depends_on(path):
    """Its own code and every dataset by digest; kernel evaluations, or null where the table asks for no
    kernel matrix.
    """
    stored = json.loads(path.read_text())
    digests = {"code", *(f"data {name}" for name in experiment(path.stem).data)}
    assert {name for name in stored["versions"] if name == "code" or name.startswith("data ")} == digests
    assert all(len(stored["versions"][name]) == 12 for name in digests)
    assert (stored["n_kernel_evaluations"] is None) == (not path.stem.startswith("strings-"))


def test_every_table_is_stored():
    assert {path.stem for path in (DOCS / "results").glob("*.json")} == {*EXPERIMENTS}


def test_work_that_nobody_counted_does_not_print_as_none_done():
    assert "kernel" not in to_markdown(result())
    assert "(no kernel evaluation, all values looked up)" in to_markdown(result(n_kernel_evaluations=0))
    assert "(1,234 kernel evaluations, other values looked up)" in to_markdown(
        result(n_kernel_evaluations=1234)
    )


def test_a_run_counts_kernel_evaluations_from_its_first_matrix_on(tmp_path):
    run, kernel = Run(kernels=tmp_path, progress=False), SubsequenceKernel(2, 0.5, progress=False)
    assert run.n_kernel_evaluations is None
    run.gram(kernel, ["corn", "wheat"])
    assert run.n_kernel_evaluations == 3
    again = Run(kernels=tmp_path, progress=False)
    again.gram(kernel, ["corn", "wheat"])
    assert again.n_kernel_evaluations == 0


def test_no_quick_result_is_documented():
    assert not any(found.quick for found in load_results(DOCS / "results"))
    assert not list((DOCS / "results").glob("*.quick.json"))


def test_experiments_are_found_by_name():
    assert experiment("strings-2").name == "strings-2"
    with pytest.raises(TextmarginError, match=r"no table 'string-2'\. Nearest: strings-2"):
        experiment("string-2")
    assert all(json.dumps(published(one.paper)["paper"]) for one in EXPERIMENTS.values())
