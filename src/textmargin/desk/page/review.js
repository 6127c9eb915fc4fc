// Where model and people differ, and where people differ among themselves.
import { $, bdi, list, make, replace } from "./dom.js";

export class Review {
  constructor(desk) {
    this.desk = desk;
    desk.on("state", () => this.show());
  }

  show() {
    const { conflicts, disagreements } = this.desk.state, shown = JSON.stringify([conflicts, disagreements]);
    if (shown === this.shown) return;
    this.shown = shown;
    const n = conflicts.length + disagreements.length;
    $("tab-review").lastElementChild.textContent = n ? String(n) : "";
    $("tab-review").setAttribute("aria-label", n ? `Review, ${n}` : "Review");
    replace($("panel-review"),
      make("h2", {}, "People differ"),
      conflicts.length ? make("ul", { class: "rows" }, conflicts.map((one) => this.#conflict(one))) : make("p", { class: "soft" }, "Nobody contradicts anybody."),
      make("h2", {}, "Model and people differ"),
      disagreements.length
        ? make("ul", { class: "rows" }, disagreements.map((one) => this.#disagreement(one)))
        : make("p", { class: "soft" }, "No label so far contradicts what the model says of its text."));
  }

  #conflict({ text, snippet, labels }) {
    const answers = new Map(Object.values(labels).map((one) => [JSON.stringify([...one].sort()), one]));
    return make("li", {},
      this.#snippet(text, snippet, "conflict"),
      make("p", { class: "soft" }, Object.entries(labels).flatMap(([who, given], k) => [k ? "; " : "", bdi(who), " says ", ...list(given)])),
      make("div", { class: "buttons" }, [...answers.values()].map((answer) => make("button", {
        type: "button", "data-focus": `settle ${text} ${answer.join(" ")}`, "aria-label": `Settle text ${text + 1} as ${answer.join(", ") || "none of these"}`,
        onclick: () => this.desk.act("settle", { text, labels: answer }, `Settled: ${answer.join(", ") || "none of these"}`),
      }, "Settle: ", list(answer)))));
  }

  #disagreement({ text, snippet, label, predicted }) {
    return make("li", {}, this.#snippet(text, snippet, "disagreement"),
      make("p", { class: "soft" }, "Labelled ", list(label), "; the model says ", list(predicted)));
  }

  #snippet(text, snippet, source) {
    return make("button", { type: "button", class: "link snippet", dir: "auto", "data-focus": `read ${text}`, onclick: () => this.desk.open(text, source) }, snippet || `Text ${text + 1}`);
  }
}
