// Who reads, how far they agree and how fast they are; files to take away.
import { $, bdi, count, decimal, make, percent, plural, replace } from "./dom.js";

const EXPORTS = [["csv", "Labels, CSV"], ["jsonl", "Labels, JSON lines"], ["keywords", "Keywords, TOML"], ["costs", "Costs, TOML"], ["acts", "All that was done"]];

const FEWEST_SHARED = 10;  // texts that two have read, from which on agreement is said

export class People {
  constructor(desk, onTrouble) {
    this.desk = desk;
    this.onTrouble = onTrouble;
    desk.on("state", () => this.show());
    replace($("exports"), EXPORTS.map(([kind, what]) => make("button", { type: "button", "data-kind": kind, onclick: () => this.#save(kind) }, what)));
  }

  show() {
    const { people, agreement, annotator, project } = this.desk.state, shown = JSON.stringify([people, agreement, annotator, project]);
    if (shown === this.shown) return;
    this.shown = shown;
    const pace = (seconds) => (seconds === null || seconds === undefined ? "–" : `${decimal(seconds, seconds < 10 ? 1 : 0)} s`);
    replace($("people"), table(["name", "labels", "a text takes"], people.map((one) =>
      [[bdi(one.name), one.name === annotator ? " (you)" : ""], count(one.n_labels), pace(one.seconds_median)])));
    const both = agreement.filter((one) => one.n_both > 0);
    const shared = Math.max(0, ...both.map((one) => one.n_both));
    replace($("agreement"), shared > 0 && shared < FEWEST_SHARED
      ? make("p", { class: "soft" }, `${plural(shared, "text was", "texts were")} read by two: too few to tell how far they agree. It takes ${FEWEST_SHARED}.`)
      : both.length
      ? table(["class", "read by two", "agree", "kappa"], both.map((one) => [bdi(one.class), count(one.n_both), percent(one.agreement), decimal(one.kappa)]))
      : make("p", { class: "soft" }, "Agreement appears once two people have read the same texts."));
    $("source").textContent = `${count(project.n_texts)} texts of ${project.source ?? project.name}. ${count(project.n_labelled)} are labelled, ${count(project.n_random)} of them drawn at random.`;
  }

  async #save(kind) {
    try {
      const { name, blob } = await this.desk.api.file(`/api/export/${kind}`);
      const address = URL.createObjectURL(blob);
      const link = make("a", { href: address, download: name, hidden: true });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      this.onTrouble(error.message);
    }
  }
}

function table(heads, rows) {
  return make("table", {}, make("thead", {}, make("tr", {}, heads.map((one) => make("th", { scope: "col" }, one)))),
    make("tbody", {}, rows.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), rest.map((one) => make("td", {}, one))))));
}
