"""All families of the attack, for so many minutes: `make attack`, or

    PYTHONPATH=tests python -m attack --minutes 60                # equal shares of the time, two processes
    PYTHONPATH=tests python -m attack --only words --seed 17 --minutes 0     # one case

A family runs in a process of its own, so that a crash of compiled code is a finding as well.
Ends with 1 if something was found.
"""

import argparse
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from attack import families


def main():
    parser = argparse.ArgumentParser(prog="attack")
    parser.add_argument("--minutes", type=float, default=60.0, help="in all, on the processes together")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=families.names())
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**40))
    options = parser.parse_args()
    if options.only:
        return one_family(options.only, options.seed, options.minutes * 60)
    seconds = options.minutes * 60 * options.processes / len(families.names())
    print(f"{len(families.names())} families, {seconds:.0f} s each, seeds from {options.seed}", flush=True)
    with ThreadPoolExecutor(options.processes) as pool:
        return max(pool.map(lambda name: in_a_process(name, options.seed, seconds), families.names()))


def one_family(name, first, seconds):
    n_cases, found = families.run(name, first, seconds)
    print(f"{name}: {n_cases:,} cases from seed {first}, {len(found)} failures")
    for seed, what in found.items():
        print(f"  {seed} = {what!r}")
    return int(bool(found))


def in_a_process(name, first, seconds):
    words = ["--only", name, "--seed", str(first), "--minutes", str(seconds / 60)]
    command = [sys.executable, "-X", "faulthandler", "-m", "attack", *words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    crashed = f"{name}: the process ended with {done.returncode}\n{done.stderr[-3000:]}"
    print(done.stdout.strip() if done.stdout and done.returncode in (0, 1) else crashed, flush=True)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
