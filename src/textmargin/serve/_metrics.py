"""A few counters in Prometheus' text format. They are touched on the event loop only, so that no lock is
needed.
"""

from __future__ import annotations

from collections import Counter, defaultdict

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """What the service has done since it started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.n_texts = 0
        self.n_batches = 0
        self.n_feedback = 0
        self.n_unsure = 0
        self.in_flight = 0
        self.model = ""
        self.n_models = 0
        self.n_refused_models = 0

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests[route, status] += 1
        self.seconds[route] += seconds

    def __str__(self) -> str:
        by_route: Counter[str] = Counter()
        for (route, _), n in self.requests.items():
            by_route[route] += n
        families = (
            (
                "requests_total",
                "counter",
                "Requests answered.",
                {f'route="{r}",status="{s}"': n for (r, s), n in self.requests.items()},
            ),
            ("texts_total", "counter", "Texts decided on.", {"": self.n_texts}),
            ("batches_total", "counter", "Times the model was called for them.", {"": self.n_batches}),
            ("unsure_total", "counter", "Texts with something left to a person.", {"": self.n_unsure}),
            ("feedback_total", "counter", "Feedback acknowledged.", {"": self.n_feedback}),
            (
                "model_info",
                "gauge",
                "The model that answers, by the digest of its file.",
                {f'digest="{self.model}"': 1},
            ),
            (
                "models_replaced_total",
                "counter",
                "Times another model came in its place.",
                {"": self.n_models},
            ),
            ("models_refused_total", "counter", "Times its file held no model.", {"": self.n_refused_models}),
            ("requests_in_flight", "gauge", "Requests let in and not answered yet.", {"": self.in_flight}),
        )
        lines = [
            line for name, kind, about, values in families for line in _family(name, kind, about, values)
        ]
        lines += [
            "# HELP textmargin_request_seconds Time from request to answer.",
            "# TYPE textmargin_request_seconds summary",
        ]
        for route, n in sorted(by_route.items()):
            lines.append(f'textmargin_request_seconds_sum{{route="{route}"}} {self.seconds[route]:.6f}')
            lines.append(f'textmargin_request_seconds_count{{route="{route}"}} {n}')
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str, values: dict[str, int]) -> list[str]:
    rows = [
        f"textmargin_{name}{f'{{{labels}}}' if labels else ''} {value}"
        for labels, value in sorted(values.items())
    ]
    return [f"# HELP textmargin_{name} {about}", f"# TYPE textmargin_{name} {kind}", *rows]
