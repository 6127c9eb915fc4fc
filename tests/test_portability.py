"""What only some systems have is never needed to import the package, and where it is used is known."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__import__("textmargin").__file__).parent
# Of the standard library, what Windows lacks: modules, and names in others.
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
NAMES = {
    "os": {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "chroot", "fchdir", "fchmod",
        "fchown", "fdatasync", "fork", "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg",
        "getpgid", "getuid", "initgroups", "killpg", "lchown", "lockf", "memfd_create", "mkfifo", "mknod",
        "nice", "openpty", "posix_fadvise", "posix_fallocate", "posix_spawn", "pread", "preadv", "pwrite",
        "pwritev", "register_at_fork", "sched_getaffinity", "sched_setaffinity", "sendfile", "setsid",
        "setuid", "statvfs", "sync", "sysconf", "uname", "wait", "wait3", "wait4",
    },
    "signal": {"SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP",
               "SIGUSR1", "SIGUSR2", "alarm", "pause", "pthread_kill", "pthread_sigmask",
               "setitimer", "sigwait"},
    "mmap": {"MAP_ANONYMOUS", "MAP_PRIVATE", "MAP_SHARED", "PROT_EXEC", "PROT_READ", "PROT_WRITE"},
    "socket": {"AF_UNIX", "SO_REUSEPORT", "recv_fds", "send_fds", "socketpair"},
    "time": {"tzset"},
}  # fmt: skip
# Within functions that do without, or are asked only where there is such a thing.
USES = {
    "_system/locks.py": {"fcntl"},  # else locks are those of the library filelock
    "_system/memory.py": {"os.sysconf"},  # unlimited, where the system does not tell
    "_system/threads.py": {"os.sched_getaffinity"},  # else all cores
    # else arrays are sent
    "scale/_shared_memory.py": {"os.memfd_create", "os.pread", "os.pwrite", "mmap.PROT_READ"},
    "serve/running.py": {"resource"},  # else connections are limited by number alone
}
WITHOUT = """
import importlib, os, pkgutil, sys
import textmargin

names = [module.name for module in pkgutil.walk_packages(textmargin.__path__, "textmargin.")]
names.remove("textmargin.__main__")
for name in names:  # with what they need of others, which have code of their own for every system
    importlib.import_module(name)
for name in [name for name in sys.modules if name.split(".")[0] == "textmargin"
             and name != "textmargin.core"]:
    del sys.modules[name]
for module in MODULES:
    sys.modules[module] = None
for module, gone in NAMES.items():
    for name in gone:
        vars(importlib.import_module(module)).pop(name, None)
for name in names:
    importlib.import_module(name)
import textmargin
for name in textmargin.__all__:
    getattr(textmargin, name)
print(len(names))
"""


def without(code):
    """What a process prints in which the names are gone."""
    prelude = f"MODULES, NAMES = {MODULES!r}, {NAMES!r}\n"
    done = subprocess.run([sys.executable, "-c", prelude + WITHOUT + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def uses(path):
    """The names of a file that not every system has."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from MODULES & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from {node.module} & MODULES
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if alias.name in NAMES.get(node.module, ())
            )
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in NAMES.get(node.value.id, ())
        ):
            yield f"{node.value.id}.{node.attr}"


def test_who_uses_what_not_every_system_has():
    """As `fcntl`, which one module needs."""
    found = {path.relative_to(PACKAGE).as_posix(): set(uses(path)) for path in PACKAGE.rglob("*.py")}
    assert len(found) > 300
    assert {name: names for name, names in found.items() if names} == USES


def test_every_module_is_imported_without_them_and_does_less():
    """Windows had no `resource` and no SIGHUP: `textmargin serve` and every other command ended in a
    traceback.
    """
    for name in ("dask", "fastapi", "uvicorn"):
        pytest.importorskip(name)
    n_modules, *found = without("""
import signal
from textmargin._system.memory import machine_memory
from textmargin._system.threads import n_threads
from textmargin.cli._interrupts import raise_terminations, _terminate
from textmargin.scale._shared_memory import make_outbox
from textmargin.serve.running import _max_connections

raise_terminations()
print(signal.getsignal(signal.SIGTERM) is _terminate)
print(machine_memory() == sys.maxsize, n_threads(None) >= 1, make_outbox(), _max_connections())
""")
    assert int(n_modules) > 300
    assert found == ["True", "True True None 10000"]
