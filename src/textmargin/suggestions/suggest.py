"""How a list of keywords could be mended, by the texts at hand and what a model makes of them.

*Add*: words that texts of the class have far more often than by chance (z ≥ 2, `company.py`), by z. Where two
classes claim a word and texts have one label, the one it was named for, or else that of the largest z, is
told, and gets it in a file.

*Strike*: a named word whose texts, were it left out, would hardly be given the class (z < 1) but another (z ≥
2); and one of which training texts say the opposite (`disagreements`), so that a quarter of the weight it was
named with is lost, or where the prior is not trusted of the class's largest weight, unless its texts clearly
speak for it (z ≥ 2). Words that keywords spread to in unlabelled texts are struck by the first of these rules
alone.

*Split*: a named word whose texts, were it left out, would be given the class (z ≥ 1), but even more so
another (z ≥ 2); and a word that is named for two classes.

Chosen on the service desk and on Reuters' topics of one label, by which removed keywords come back and which
planted ones are struck, for models of no labels, of four a class and of all (docs/unlabelled.md has these
figures of wikipedia25).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._slots import Slots
from .._system.stages import stage
from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from ..classifier import TextClassifier
from ..errors import EmptyVocabularyError, SettingError
from ..knowledge.keywords import KeywordPrior
from ..representations.texts import as_texts
from .company import Company, excess
from .findings import Split, Strike, Suggestions, WordEvidence

_CLEAR, _HARDLY = 2.0, 1.0  # of z
_OPPOSED = 0.25  # of a weight


def suggest(model: TextClassifier, texts: Any, *, keywords: Any = None, n: int = 10) -> Suggestions:
    """Words to add to the keywords of each class, to strike, and to split between two classes.

    Parameters
    ----------
    model : TextClassifier, fitted
        With weights of words, such as a bag of words and `PriorSVC`.
    texts : list, array or column of strings
        The texts at hand; they need no labels.
    keywords : KeywordPrior or mapping class → words, default=None
        The list to mend; by default the model's own, which may be none: then there are words to add only.
    n : int, default=10
        How many words to add to each class.

    Examples
    --------
    >>> from textmargin import TextClassifier, suggest
    >>> texts = ["wheat and maize harvest", "maize exports", "maize, rye"] * 3
    >>> texts += ["the bank raises rates", "bank rates"] * 4
    >>> model = TextClassifier(knowledge={"grain": ["wheat"]}).fit(texts, ["grain"] * 9 + ["money"] * 8)
    >>> [one.word for one in suggest(model, texts, n=1).add["grain"]]
    ['maize']
    """
    texts = as_texts(texts)
    if not texts:
        raise EmptyVocabularyError("There are no texts to find words in: the list is empty.")
    if n < 1:
        raise SettingError("n", f"must be at least 1; got {n}.")
    company = Company.of(model, texts)
    with stage(f"comparing {len(company.terms):,} words"):
        named = _Named.of(model, company, keywords)
        strike, split = _contradicted(model, company, named)
        return Suggestions(
            n_texts=len(texts),
            counts={name: int(company.accepted[:, k].sum()) for k, name in enumerate(named.names)},
            keywords=named.entries,
            add=_additions(company, named, strike, n),
            strike={
                name: [one for (j, _), one in strike.items() if j == k] for k, name in enumerate(named.names)
            },
            split=split,
        )


@dataclass(frozen=True)
class _Named:
    """The keywords of each class.

    Attributes
    ----------
    names : list of str, the classes
    entries : dict, per class its entries with their weights, as they were named
    weights : array (n_classes, n_terms)
    known : array (n_classes, n_terms) of bool, of which terms something was said, were it that they say
        nothing
    entry_of : dict, the entry that stands for one term of a class and nothing else
    """

    names: list[str]
    entries: dict[str, dict[str, float]]
    weights: Floats
    known: Bools
    entry_of: dict[tuple[int, int], str]

    @classmethod
    def of(cls, model: TextClassifier, company: Company, keywords: Any) -> _Named:
        names, terms = company.labels.text_names, company.terms
        if keywords is None:
            kinds = Slots(model.representation, model.knowledge, model.learner, model.decision).kinds()
            priors = [kind for kind in kinds if isinstance(kind, KeywordPrior)]
        else:
            priors = [KeywordPrior(keywords) if isinstance(keywords, Mapping) else keywords]
        entries: dict[str, dict[str, float]] = {name: {} for name in names}
        weights, known = np.zeros((len(names), len(terms))), np.zeros((len(names), len(terms)), dtype=bool)
        place = {term: j for j, term in enumerate(terms.tolist())}
        words = model.representation_
        analyze = (
            words.build_keyword_analyzer()
            if hasattr(words, "build_keyword_analyzer")
            else words.build_analyzer()
        )
        entry_of = {}
        for prior in priors:
            for landing in prior.match_vocabulary(terms, company.labels.names, analyze):
                k = company.labels.index(landing.target)
                columns = [place[term] for term in landing.terms]
                weights[k, columns], known[k, columns] = [*landing.terms.values()], True
            for name, own in prior.entries().items():
                if str(name) in entries:
                    entries[str(name)].update(own)
                    k = names.index(str(name))
                    alone = ((entry, [entry] if entry in place else analyze(entry)) for entry in own)
                    entry_of.update(
                        {
                            (k, place[one[0]]): entry
                            for entry, one in alone
                            if len(one) == 1 and one[0] in place
                        }
                    )
        return cls(names, entries, weights, known, entry_of)


def _additions(
    company: Company, named: _Named, strike: dict[tuple[int, int], Strike], n: int
) -> dict[str, list[WordEvidence]]:
    """Per class the words that its texts have far more often than by chance."""
    owners = _owners(company, named, strike)
    found: dict[str, list[WordEvidence]] = {}
    for k, name in enumerate(named.names):
        z = company.excess(k)
        own = np.flatnonzero(company.is_word & ~named.known[k] & (z >= _CLEAR))
        found[name] = []
        for t in own[descending_order(z[own])[:n]].tolist():
            other = "" if owners is None or owners[t] == k else named.names[owners[t]]
            found[name].append(replace(_evidence(company, k, t), other=other))
    return found


def _owners(company: Company, named: _Named, strike: dict[tuple[int, int], Strike]) -> Indices | None:
    """With one label a text the class that claims a word most: that it was named for and stays, or that of
    the largest z.
    """
    if company.labels.multilabel:
        return None
    owners, best = np.zeros(len(company.terms), dtype=np.intp), np.full(len(company.terms), -np.inf)
    for k in range(len(named.names)):
        stays = [t for t in np.flatnonzero(named.weights[k] > 0).tolist() if (k, t) not in strike]
        z = company.excess(k)
        z[stays] = np.inf
        owners[z > best], best = k, np.maximum(best, z)
    return owners


def _contradicted(
    model: TextClassifier, company: Company, named: _Named
) -> tuple[dict[tuple[int, int], Strike], list[Split]]:
    """The words to strike, by class and term, named ones and those that they spread to; and the named ones to
    split.
    """
    strike: dict[tuple[int, int], Strike] = {}
    split: dict[tuple[int, frozenset[int]], Split] = {}
    opposed = _opposed(model, company, named)
    shares = [_shares(company, k) for k in range(len(named.names))]
    for k, t in [*np.argwhere(named.weights > 0).tolist(), *_spread(model, company, named)]:
        accepted = company.accepted_without(t)
        own = excess(int(accepted[:, k].sum()), len(accepted), company.accepted[:, k].mean())
        # with several labels a text, those of both classes speak for neither
        outside = accepted[~accepted[:, k]]
        z = excess(outside.sum(axis=0), len(outside), shares[k])
        z[k] = -np.inf
        other = int(descending_order(z)[0])
        claimed = z[other] >= _CLEAR
        if claimed and own < _HARDLY:
            near, n_other = (
                "" if named.known[k, t] else "near its keywords, but ",
                int(outside[:, other].sum()),
            )
            reason = (
                f"{near}without it {n_other:,} of its {len(accepted):,} texts are given {named.names[other]}"
            )
        elif not named.known[k, t]:
            continue
        elif own < _CLEAR and (k, t) in opposed:
            reason = (
                f"training texts say the opposite ({opposed[k, t]:+.2f}), and leave it a weight of "
                f"{company.coef[k, t]:+.2f}"
            )
        else:
            rivals = [j for j in np.flatnonzero(named.weights[:, t] > 0).tolist() if j != k]
            for j in {*rivals, other} if claimed and z[other] > own else rivals:
                split.setdefault((t, frozenset((k, j))), _split(company, k, j, t, accepted))
            continue
        strike[k, t] = Strike(
            named.entry_of.get((k, t), str(company.terms[t])), _evidence(company, k, t, accepted), reason
        )
    # A word that is struck from one of two classes is the other's.
    return strike, [one for (t, pair), one in split.items() if not any((k, t) in strike for k in pair)]


def _spread(model: TextClassifier, company: Company, named: _Named) -> list[tuple[int, int]]:
    """The words that the model's keywords spread to, by class and term: those that these texts have and the
    list does not.
    """
    place = {term: j for j, term in enumerate(company.terms.tolist())}
    places = [
        (company.labels.index(name), place[word])
        for name, own in model.spread_.items()
        for word in own
        if word in place
    ]
    return [
        (k, t) for k, t in places if company.is_word[t] and not named.known[k, t] and len(company.rows(t))
    ]


def _shares(company: Company, k: int) -> Floats:
    """Of all texts that a class is not given, the share that each other class is."""
    outside = company.accepted[~company.accepted[:, k]]
    return outside.mean(axis=0) if len(outside) else np.zeros(company.accepted.shape[1])


def _opposed(model: TextClassifier, company: Company, named: _Named) -> dict[tuple[int, int], float]:
    """The named words of which the model's data say the opposite, by class and term, and what these say."""
    found: dict[tuple[int, int], float] = {}
    if not hasattr(model.learner_, "disagreements") or not np.any(getattr(model.learner_, "prior_", 0)):
        return found
    place = {term: j for j, term in enumerate(company.terms.tolist())}
    for one in model.disagreements(model.learner_.prior_.size):
        k, t = company.labels.index(one.target), place.get(one.term)
        if t is None:
            continue
        data, known = one.data, one.known
        # what is known of the first class speaks against the second
        if company.labels.kind == "binary" and known < 0:
            k, data, known = 0, -data, -known
        from_prior = company.coef[k, t] - data
        limit = abs(from_prior) if from_prior * known > 0 else np.abs(company.coef[k]).max()
        if named.weights[k, t] > 0 < known and abs(data) > _OPPOSED * limit:
            found[k, t] = data
    return found


def _split(company: Company, k: int, other: int, t: int, accepted: Bools) -> Split:
    """A word of two classes, with what tells their texts apart."""
    rows, names = company.rows(t), company.labels.text_names
    only = [rows[accepted[:, one] & ~accepted[:, two]] for one, two in ((k, other), (other, k))]
    beside = dict(zip((names[k], names[other]), company.words_between(only[0], only[1], t), strict=True))
    return Split(
        str(company.terms[t]), {names[j]: _evidence(company, j, t, accepted) for j in (k, other)}, beside
    )


def _evidence(company: Company, k: int, t: int, accepted: Bools | None = None) -> WordEvidence:
    """What the texts say of a word; `accepted` without it, where it was named."""
    rows = company.rows(t)
    own = company.accepted[rows, k] if accepted is None else accepted[:, k]
    shown = rows[own] if own.any() else rows
    ratio = company.ratio(int(own.sum()), rows.size, k)
    return WordEvidence(
        str(company.terms[t]),
        int(rows.size),
        int(own.sum()),
        ratio,
        float(company.coef[k, t]),
        company.lines(t, shown),
    )
