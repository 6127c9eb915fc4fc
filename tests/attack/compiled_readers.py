"""libFuzzer on the compiled readers and the tokeniser (`fuzz_readers.cpp`), where there is Clang: some
thousand inputs a case.

An input that fails stays in build/attack, and its bytes are in what the case says.
"""

import functools
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

SECONDS_A_CASE = 60
ROOT = Path(__file__).parents[2]
CLANG = os.environ.get("CLANG", "clang++")
FLAGS = [
    "-std=c++20",
    "-O1",
    "-g",
    "-fsanitize=fuzzer,address,undefined",
    "-fno-sanitize-recover=all",
    "-Wall",
    "-Wextra",
    "-Werror",
]
N_INPUTS = 3000
WORDS = [
    b"text",
    b'{"text": "',
    b'"}',
    b'""',
    b'","',
    b"\r\n",
    b"sep=;",
    b"\\ud83d\\ude00",
    b"\xed\xa0\x80",
    b"\xf4\x8f\xbf\xbf",
    b"=1+1",
]


def missing():
    """What this family cannot do without, if it is not there."""
    return None if shutil.which(CLANG) else f"no {CLANG} here: install Clang, or name one with CLANG="


@functools.cache
def harness():
    folder = ROOT / "build" / "attack"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "fuzz_readers"
    newest = max(
        path.stat().st_mtime
        for path in [*(ROOT / "src" / "core").glob("*.hpp"), Path(__file__).with_name("fuzz_readers.cpp")]
    )
    if not program.exists() or program.stat().st_mtime < newest:
        own = folder / f"fuzz_readers.{os.getpid()}"
        command = [CLANG, *FLAGS, str(Path(__file__).with_name("fuzz_readers.cpp")), "-o", str(own)]
        built = subprocess.run(command, capture_output=True, text=True)
        assert built.returncode == 0, f"the harness does not compile: {built.stderr[-1500:]}"
        own.replace(program)
    spelled = ["".join(rf"\x{byte:02x}" for byte in word) for word in WORDS]
    (folder / "words.dict").write_text("".join(f'"{word}"\n' for word in spelled))
    return program


def case(seed):
    program, rng = harness(), random.Random(f"compiled_readers/{seed}")
    with tempfile.TemporaryDirectory() as folder:
        for k in range(20):
            pieces = [
                rng.choice([*WORDS, b"a", b" ", b"\n", b",", b"12", bytes([rng.randrange(256)])])
                for _ in range(rng.randrange(40))
            ]
            Path(folder, str(k)).write_bytes(
                bytes([rng.randrange(256), rng.randrange(256)]) + b"".join(pieces)
            )
        options = [
            f"-seed={seed % 2**31 or 1}",
            f"-runs={N_INPUTS}",
            "-max_len=2000",
            f"-dict={program.with_name('words.dict')}",
        ]
        options += ["-timeout=20", "-verbosity=0", f"-artifact_prefix={program.parent}/"]
        found = subprocess.run([program, *options, folder], capture_output=True, text=True, errors="replace")
    assert found.returncode == 0, f"exit status {found.returncode}: {found.stderr[-600:]}"
