"""What only some systems have is never needed to import the package, and where it is used is known."""

import subprocess
import sys

import pytest

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


def test_every_module_is_imported_without_them_and_does_less():
    """Windows had no `resource` and no SIGHUP: `textmargin serve` and every other command ended in a
    traceback.
    """
    for name in ("dask", "fastapi", "uvicorn"):
        pytest.importorskip(name)
    assert int(without("")[0]) > 200
