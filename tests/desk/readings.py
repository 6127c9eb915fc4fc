"""A text, a pointer that goes over it, and what the page sends of that."""

from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.desk.reading import pointer_reading

TEXT = "The invoice is wrong. Please mend it."
STARTS = [0.0, 40.0, 110.0, 130.0, 190.0, 250.0, 300.0]


def sampled(path, step=25.0):
    """Samples of a pointer that rests so many ms on each word, at an x; one every `step` ms."""
    samples, now = {"time": [], "word": [], "x": []}, 0.0
    for word, duration, x in path:
        for _ in range(round(duration / step)):
            for name, value in (("time", now), ("word", word), ("x", x)):
                samples[name].append(value)
            now += step
    return samples


# The → invoice → (sweeps over "is") → wrong. → back to invoice → wrong. → off the text → Please → it.
PATH = [
    (0, 200, 10),
    (1, 400, 60),
    (2, 100, 115),
    (3, 300, 140),
    (1, 250, 50),
    (3, 175, 150),
    (-1, 200, 400),
    (4, 225, 200),
    (6, 200, 310),
]

GOOD = {"text": 0, "time": [0, 25], "word": [0, 1], "x": [1, 2], "word_starts": STARTS}


def reading_project(path):
    """A project with the text in it."""
    return Project.create(path, [TEXT, "Another text."], classes=["billing", "other"], source="two")


def reading_act(annotator="anna", text=0, **content):
    return Act(
        new_id(),
        annotator,
        "reading",
        {**pointer_reading({**GOOD, **sampled(PATH), "text": text}, [TEXT]), **content},
    )
