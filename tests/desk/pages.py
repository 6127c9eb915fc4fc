"""A desk on a socket of this machine, and a browser to look at it with."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from contextlib import contextmanager

import uvicorn

from textmargin.datasets.loading import load_dataset
from textmargin.desk.app import create_desk_app

TOKEN = "t0ken"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KEYWORDS = {
    "account": {"password": 1, "login": 1, "locked": 1},
    "network": {"wifi": 1, "vpn": 1, "connection": 1, "printer": -1},
    "printing": {"printer": 1, "toner": 1},
    "billing": {"invoice": 1, "cost centre": 1},
}


@contextmanager
def served(desk, port=0, annotator="anna", **settings):
    """The address of a desk, token included, while it is served."""
    listener = socket.create_server(("127.0.0.1", port))
    app = create_desk_app(desk, token=TOKEN, annotator=annotator, **settings)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/?token={TOKEN}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


@contextmanager
def chromium():
    """The system's browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=alone)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened_desk(path, n=None, keywords=True, **settings):
    """A real desk on helpdesk messages, new or gone on with."""
    from textmargin.desk.acts import Act
    from textmargin.desk.project import Project
    from textmargin.desk.session import Desk

    if path.exists():
        project = Project.open(path)
    else:
        texts, classes = messages(n)
        project = Project.create(path, texts, classes=classes, source="desk.csv", **settings)
        for name, words in KEYWORDS.items() if keywords else ():
            for word, weight in words.items():
                content = {"label": name, "word": word, "weight": weight, "source": "list"}
                project.record(Act(f"{name}-{word}".replace(" ", "_"), "setup", "keyword", content))
    with project, Desk(project, n_jobs=1) as desk:
        yield desk


def messages(n=60):
    """Helpdesk messages and the names of their topics."""
    corpus = load_dataset("desk")
    return corpus.texts[:n], corpus.classes
