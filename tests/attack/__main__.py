"""All families of the attack, for so many minutes: `make attack`, or

    PYTHONPATH=tests python -m attack --minutes 60            # equal shares of the time, two processes
    PYTHONPATH=tests python -m attack --only words --seed 17 --cases 1

Every family has a process of its own, so that a crash or a hang of compiled code is a finding like any other:
its seed is noted, and the next one is tried. Prints a table, and ends with 1 where something was found.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attack import families
from attack.families import Failure, Outcome

# seconds beyond what a case may take by the clock, after which it hangs where no signal reaches it
GRACE = 60
_MOST_FAILURES = 25  # of a family, after which it is known to be broken
_lines = threading.Lock()


def main() -> int:
    parser = argparse.ArgumentParser(prog="attack")
    parser.add_argument("--minutes", type=float, default=60.0, help="in all, on the processes together")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", action="append", choices=families.names())
    parser.add_argument(
        "--seed", type=int, default=None, help="of the first case; by default another one every time"
    )
    parser.add_argument("--cases", type=int, default=None, help="so many of each, whatever the time")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _child(options.child, options.seed, options.seconds, options.cases)
    chosen = []
    for name in options.only or families.names():
        if (what := families.missing(name)) is None:
            chosen.append(name)
        else:
            print(f"{name} is left out: {what}")
    first = random.SystemRandom().randrange(1, 2**40) if options.seed is None else options.seed
    share = options.minutes * 60 * options.processes / len(chosen)
    print(f"{len(chosen)} families, {share:.0f} s each, seeds from {first}", flush=True)
    with ThreadPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(lambda name: attack(name, first, share, options.cases), chosen))
    print(table(outcomes))
    if any(outcome.failures for outcome in outcomes):
        print(
            f"\nMend them, and keep them in {families.EXAMPLES.name} with what they "
            f"were:\n{to_keep(outcomes)}"
        )
    return any(outcome.failures for outcome in outcomes)


def attack(name: str, first: int, seconds: float, n_cases: int | None = None) -> Outcome:
    """A family in processes of its own, a new one after every crash."""
    outcome, start, seed = Outcome(name, first), time.monotonic(), first
    while (left := seconds - (time.monotonic() - start)) > 0 and len(outcome.failures) < _MOST_FAILURES:
        more = None if n_cases is None else n_cases - outcome.n_cases
        if more is not None and more <= 0:
            break
        seed = _one_process(outcome, seed, left, more)
    outcome.seconds = time.monotonic() - start
    with _lines:
        print(
            f"{name}: {outcome.n_cases:,} cases in {outcome.seconds:.0f} s, {len(outcome.failures)} failures",
            flush=True,
        )
    return outcome


def _one_process(outcome: Outcome, seed: int, seconds: float, n_cases: int | None) -> int:
    """Cases from a seed on until the process ends, one way or the other; the seed to go on with."""
    command = [sys.executable, "-X", "faulthandler", "-m", "attack", "--child", outcome.family]
    command += ["--seed", str(seed), "--seconds", str(seconds)]
    command += [] if n_cases is None else ["--cases", str(n_cases)]
    log = Path(families.FOLDER.parents[1] / "build" / "attack")
    log.mkdir(parents=True, exist_ok=True)
    with (log / f"{outcome.family}.log").open("ab") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True
        )
        timer = _Watch(child, families.seconds_a_case(outcome.family) * families.PATIENCE + GRACE)
        assert child.stdout is not None
        under_way, asked_to_stop = None, False
        for line in child.stdout:
            timer.sign()
            message = json.loads(line)
            if "begin" in message:
                under_way = message["begin"]
                continue
            under_way, seed = None, message["seed"] + 1
            outcome.n_cases += 1
            if message["what"]:
                outcome.failures.append(Failure(message["seed"], message["what"]))
                with _lines:
                    print(f"  {outcome.family} --seed {message['seed']}: {message['what']}", flush=True)
                if len(outcome.failures) >= _MOST_FAILURES:
                    asked_to_stop = True
                    child.terminate()
                    break
        code = child.wait()
        timer.end()
    if code and not asked_to_stop:
        at = seed if under_way is None else under_way
        what = (
            f"hangs: no sign of life for {timer.limit:.0f} s"
            if timer.rang
            else f"the process ended with {code}; see {log.name}/"
        )
        outcome.failures.append(Failure(at, what))
        outcome.n_cases += 1
        with _lines:
            print(f"  {outcome.family} --seed {at}: {what}", flush=True)
        return at + 1
    return seed


class _Watch:
    """Ends a process that has given no sign of life for too long."""

    def __init__(self, child: subprocess.Popen[str], limit: float) -> None:
        self.limit = limit
        self.child, self.last, self.rang, self.over = child, time.monotonic(), False, threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def sign(self) -> None:
        self.last = time.monotonic()

    def end(self) -> None:
        self.over.set()

    def _look(self) -> None:
        while not self.over.wait(1.0):
            if time.monotonic() - self.last > self.limit:
                self.rang = True
                self.child.kill()
                return


def _child(name: str, first: int, seconds: float, n_cases: int | None) -> int:
    """What runs in the process of a family: a line of JSON before and after each case."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what cases print is no answer
    families.load(name)  # which is no case
    end, seed = time.monotonic() + seconds, first
    while time.monotonic() < end and (n_cases is None or seed < first + n_cases):
        print(json.dumps({"begin": seed}), file=answers, flush=True)
        failure = families.run_case(name, seed)
        print(json.dumps({"seed": seed, "what": failure and failure.what}), file=answers, flush=True)
        seed += 1
    return 0


def table(outcomes: list[Outcome]) -> str:
    rows = [("family", "cases", "failures", "seconds", "seeds that failed")]
    for one in outcomes:
        seeds = ", ".join(str(failure.seed) for failure in one.failures) or "–"
        rows.append((one.family, f"{one.n_cases:,}", str(len(one.failures)), f"{one.seconds:.0f}", seeds))
    total, failed = sum(one.n_cases for one in outcomes), sum(len(one.failures) for one in outcomes)
    rows.append(("all", f"{total:,}", str(failed), "", f"from {outcomes[0].first}"))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(row[k].rjust(widths[k]) for k in (1, 2, 3)), row[4]])
        for row in rows
    )


def to_keep(outcomes: list[Outcome]) -> str:
    """Lines for `examples.toml`."""
    lines = []
    for one in outcomes:
        lines += [f"[{one.family}]"] * bool(one.failures)
        lines += [
            f"{failure.seed} = {json.dumps(failure.what, ensure_ascii=False)}" for failure in one.failures
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
