// What the model is worth now, over the labels given, and whether more of them would pay.
import { $, amount, count, make, percent, replace } from "./dom.js";
import { curve } from "./curve.js";

export class Quality {
  constructor(desk) {
    this.desk = desk;
    desk.on("state", () => this.show());
  }

  show() {
    const { quality, decisions, curve: points, curve_of: of, costs, outdated } = this.desk.state;
    const shown = JSON.stringify([quality, decisions, points, of, costs.currency, outdated]);
    if (shown === this.shown) return;
    this.shown = shown;
    const number = (what, value, interval) => make("div", {}, make("dt", {}, what), make("dd", {}, value), interval && make("dd", { class: "interval" }, interval));
    const { accuracy, utility_per_1000: utility } = quality;
    const numbers = [
      number("correct", accuracy ? percent(accuracy.value) : "–", accuracy && `${percent(accuracy.low)} to ${percent(accuracy.high)}`),
      utility && number(`${costs.currency} of 1,000 texts`, amount(utility.value), `${amount(utility.low)} to ${amount(utility.high)}`),
      number("labels it rests on", count(quality.n)),
      number("unsure", count(decisions.unsure), `of ${count(decisions.decided + decisions.unsure + decisions.none)} texts`),
    ];
    replace($("panel-quality"),
      make("h2", {}, "Quality"),
      make("dl", { class: "numbers" }, numbers.filter(Boolean)),
      quality.note && make("p", { class: "soft" }, quality.note),
      make("div", { "aria-busy": String(Boolean(outdated?.curve)) },
        outdated?.curve && make("p", {}, "The curve is of the costs before; it is being drawn for the new ones."),
        curve(points, of, costs.currency)));
  }
}
