"""The workflows: well-formed, of actions with a version, and of commands that exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
if not PATHS:
    pytest.skip("not a checkout", allow_module_level=True)
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in PATHS}


def steps():
    return [
        (name, step)
        for name, workflow in WORKFLOWS.items()
        for job in workflow["jobs"].values()
        for step in job.get("steps", [])
    ]


def test_they_follow_the_schema():
    pytest.importorskip("check_jsonschema")
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
        *map(str, PATHS),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_actions_have_a_version_and_jobs_an_end():
    used = [step["uses"] for _, step in steps() if "uses" in step]
    assert len(used) > 10
    assert [one for one in used if not re.search(r"@(release/)?v\d+$", one)] == []
    jobs = [
        (name, key)
        for name, workflow in WORKFLOWS.items()
        for key, job in workflow["jobs"].items()
        if "timeout-minutes" not in job
    ]
    assert jobs == []


def test_no_workflow_may_write_but_the_one_that_publishes_and_only_a_release():
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
    may = [
        job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values() if "permissions" in job
    ]
    assert may == [WORKFLOWS["wheels.yml"]["jobs"]["publish"]]
    assert may[0]["if"] == "github.event_name == 'release'"


def test_what_they_make_can_be_made():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    made = {
        word
        for _, step in steps()
        for line in re.findall(r"\bmake ([a-z -]+)", step.get("run", ""))
        for word in line.split()
    }
    assert {"lint", "types", "contract", "warnings", "oldest", "docs", "bench"} <= made <= targets
