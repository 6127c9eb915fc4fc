"""What the next labels are worth, and whether to stop: the learning curve, continued, times the texts that
are still to decide.

They are not worth their price where even the upper end of what is to be expected is below what the reader's
minutes cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from .learning_curve import N_NEXT, LearningCurve

_FEWEST_IN_SAMPLE = 20
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Worth:
    """What the next labels bring and cost, for the texts that are still to decide.

    Attributes
    ----------
    n : int, labels
    text : str, what follows in a sentence
    gain, low, high : float or None, in the currency of the costs, or in texts that are decided rightly; None:
        it cannot be told
    minutes, price : float or None
    stop : bool, whether even the upper end of what is to be expected does not pay
    """

    n: int
    text: str
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    minutes: float | None = None
    price: float | None = None
    stop: bool = False


def next_worth(
    curve: LearningCurve | None,
    *,
    n_sample: int,
    n_left: int,
    money: bool,
    currency: str,
    seconds: float | None,
    minute: float | None,
) -> Worth:
    """Of the next 20 labels, where there are as many texts.

    Parameters
    ----------
    curve : LearningCurve or None
    n_sample : int, labelled texts that were drawn at random
    n_left : int, texts without a label, which the model decides on
    money : bool, whether the curve is in a currency
    currency : str
    seconds : float or None, the annotator's pace, for one label
    minute : float or None, what a minute of the annotator costs
    """
    if n_left < N_NEXT:
        text = (
            f"{n_left} text{'s are' if n_left > 1 else ' is'} without a label: read them, and none is "
            "left to the model."
        )
        return Worth(n_left, text if n_left else "Every text has a label.", stop=n_left == 0)
    minutes = None if seconds is None else N_NEXT * seconds / 60
    price = None if minutes is None or minute is None else minutes * minute
    time = "" if minutes is None else f"; they cost you {_minutes(minutes)}"
    time += "" if price is None else f" ({_money(price, currency)})"
    gain = None if curve is None or len(curve.worths) < _FEWEST_IN_SAMPLE else curve.next_gain
    if gain is None:
        n_more = _FEWEST_IN_SAMPLE - n_sample
        why = "it is being worked out"
        if n_more > 0:
            why = (
                f"about {n_more} more text{'s' if n_more > 1 else ''} drawn at random "
                f"{'are' if n_more > 1 else 'is'} needed"
            )
        text = f"Too early to say how much the next {N_NEXT} labels would help: {why}"
        return Worth(N_NEXT, f"{text}{time}.", minutes=minutes, price=price)
    value, low, high, most = (n_left * one for one in (gain.value, gain.low, gain.high, gain.most))
    stop = bool(most < price) if money and price is not None else not money and most < 0.5
    what = f"{_money(value, currency)}" if money else f"{value:,.0f} more correct texts"
    ends = [_money(one, currency) if money else f"{one:,.0f}".replace("-", MINUS) for one in (low, high)]
    text = (
        f"The next {N_NEXT} labels should gain about {what} on the {n_left:,} texts without a label "
        f"(90 % of the time between {ends[0]} and {ends[1]}){time}."
    )
    if stop:
        text += " More labels would not pay."
    return Worth(N_NEXT, text, value, low, high, minutes, price, stop)


def _minutes(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute"
    return f"{minutes:.0f} minute{'s' if round(minutes) != 1 else ''}"


def _money(amount: float, currency: str) -> str:
    digits = 2 if abs(amount) < 10 else 0
    return f"{amount:,.{digits}f} {currency}".strip().replace("-", MINUS)
