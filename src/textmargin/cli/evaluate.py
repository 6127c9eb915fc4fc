"""The command that says how good a model is on labelled texts."""

from __future__ import annotations

from ._console import app, print_json
from ._evaluation import print_summary, remark_on_texts
from ._model_options import UtilityOptions, usual_costs
from ._options import AsJson, LabelledFile, ModelFile, ReadingOptions, grouped


@app.command()
@grouped
def evaluate(
    model: ModelFile,
    data: LabelledFile,
    reading: ReadingOptions,
    utility: UtilityOptions,
    as_json: AsJson = False,
) -> None:
    """Decide on labelled texts, and say how good the decisions are and what they are worth.

    Columns and separator are those of training, where the file has them and no option says otherwise.
    """
    from .._system.stages import stage
    from ..persistence import load_classifier
    from ..report.summary import summarise

    classifier = load_classifier(model)
    measure = utility.measure(usual_costs(classifier))
    with stage(f"reading {data}"):
        corpus = reading.read(data, origin=classifier.metadata_).corpus
    with stage(f"deciding on {len(corpus):,} texts"):
        summary = summarise(classifier, corpus, measure)
    remark_on_texts(classifier, summary)
    if as_json:
        print_json(summary.to_dict())
    else:
        print_summary(summary)
