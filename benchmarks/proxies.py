"""nginx and Caddy in front of a service, with the configurations of `docs/serving.md`."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "serving.md"
PROXIES = ("nginx", "caddy")


def program(proxy: str) -> str | None:
    """Where a proxy is installed; Debian's nginx is on the path of root only."""
    return shutil.which(proxy, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def behind(proxy: str, service: str, limit: int = 64) -> Iterator[str]:
    """The URL of a proxy in front of a service, without TLS. It lets `limit` requests through."""
    (block,) = re.findall(rf"```{proxy}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    block = block.replace("127.0.0.1:8000", service.removeprefix("http://"))
    block = block.replace("conn texts 64", f"conn texts {limit}").replace("count 64", f"count {limit}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if proxy == "nginx":
            block = re.sub(r" *ssl_\w+ .*\n", "", block).replace("443 ssl", f"127.0.0.1:{port}")
            paths = "".join(
                f"{kind}_temp_path {folder / kind};\n"
                for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            user = "user root;" if os.getuid() == 0 else ""
            head = f"{user}\ndaemon off;\npid {folder / 'pid'};\nerror_log {folder / 'log'};\n"
            connections = "worker_rlimit_nofile 16384;\nevents { worker_connections 8192; }\n"
            block = f"{head}{connections}http {{\naccess_log off;\n{paths}{block}}}\n"
            options = ["-p", name, "-c"]
        else:
            block = "{\nadmin off\n}\n" + block.replace("texts.example.org", f"http://127.0.0.1:{port}")
            options = ["run", "--adapter", "caddyfile", "--config"]
        settings = folder / "settings"
        settings.write_text(block, encoding="utf-8")
        path = program(proxy)
        assert path is not None, f"{proxy} is not installed"
        environment = {**os.environ, "HOME": name, "XDG_DATA_HOME": name, "XDG_CONFIG_HOME": name}
        process = subprocess.Popen(
            [path, *options, str(settings)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if process.poll() is not None:
            raise RuntimeError(process.stderr.read().decode() if process.stderr else "")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nothing listens on {port}")
