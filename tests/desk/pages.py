"""A desk on a socket of this machine, and a browser to look at it with."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from contextlib import contextmanager

import uvicorn

from textmargin.datasets.loading import load_dataset
from textmargin.desk.acts import Act
from textmargin.desk.app import create_desk_app
from textmargin.desk.project import Project
from textmargin.desk.session import Desk

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
    if path.exists():
        project = Project.open(path)
    else:
        texts, classes = messages(n)
        project = Project.create(path, texts, classes=classes, source="desk.csv", **settings)
        name_keywords(project, KEYWORDS if keywords else {})
    with project, Desk(project, n_jobs=1) as desk:
        yield desk


def name_keywords(project, keywords):
    """Keywords by class, said by nobody who reads."""
    for k, (name, words) in enumerate(keywords.items()):
        for j, (word, weight) in enumerate(words.items()):
            content = {"label": name, "word": word, "weight": weight, "source": "list"}
            project.record(Act(f"setup-{k}-{j}", "setup", "keyword", content))


class OrderedDesk(Desk):
    """A desk that asks for texts in their order and does no slow work; it can be told to fail (`broken`), and
    to say that something else holds (`extra`).
    """

    def __init__(self, folder, texts, classes, keywords=KEYWORDS, multilabel=False):
        self.broken, self.extra = None, {}
        project = Project.create(
            folder / "tickets.desk", texts, classes=classes, multilabel=multilabel, source="tickets.csv"
        )
        name_keywords(project, {name: words for name, words in keywords.items() if name in classes})
        super().__init__(project, n_jobs=1, in_background=False)

    @property
    def held(self):
        return self.project.state

    @property
    def labels(self):
        """Who said what of each text."""
        return {
            text: {who: list(one.labels) for who, one in own.items()}
            for text, own in self.held.labels.items()
        }

    @property
    def acts(self):
        return [act for act in self.held.acts if act.annotator != "setup"]

    def act(self, content):
        if self.broken is not None:
            raise self.broken
        return super().act(content)

    def state(self, annotator):
        return {**super().state(annotator), "busy": None, "fresh": True, **self.extra}

    def _choose(self, annotator, shown):
        number = next((k for k in range(len(self.project.texts)) if k not in shown), None)
        return None if number is None else (number, ("tie", "balanced", "random")[number % 3])


def messages(n=60):
    """Helpdesk messages and the names of their topics."""
    corpus = load_dataset("desk")
    return corpus.texts[:n], corpus.classes
