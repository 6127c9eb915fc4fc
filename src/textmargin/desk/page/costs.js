// What a mistake costs, as numbers to type; thresholds, what is left unsure and the budget follow.
import { $, amount, bdi, count, decimal, make } from "./dom.js";

const FIELDS = [["hit", "hit"], ["false_alarm", "false alarm"], ["miss", "miss"], ["ask", "ask"]];
const START = { hit: 1, false_alarm: -1, miss: 0 };  // until somebody types others
const PAUSE = 700;  // milliseconds without a key, after which a number is meant

export class Costs {
  constructor(desk) {
    this.desk = desk;
    this.timer = null;
    desk.on("state", () => this.show());
    const box = $("panel-costs");
    box.addEventListener("input", (event) => { event.target.dataset.typed = "yes"; this.#outcome(); clearTimeout(this.timer); this.timer = setTimeout(() => this.#send(), PAUSE); });
    box.addEventListener("change", () => { clearTimeout(this.timer); this.#send(); });
    box.addEventListener("focusout", () => setTimeout(() => this.show(), 0));
    $("costs-form").addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(this.timer); this.#send(); });
    $("no-costs").addEventListener("click", () => this.desk.act("costs", { ...this.desk.state.costs, costs: {} }, "No costs: texts go to the best class"));
  }

  show() {
    const { classes, costs } = this.desk.state, names = classes.map((one) => one.name);
    if (JSON.stringify(names) !== this.names) this.#build(names);
    for (const input of $("panel-costs").querySelectorAll("input[data-field]")) {
      if (input === document.activeElement || input.dataset.typed) continue;  // what is typed stays until it is stored
      const value = input.dataset.field in costs ? costs[input.dataset.field] : costs.costs[input.dataset.class]?.[input.dataset.field];
      input.value = String(value ?? "").replace("-", "−");
      const some = Object.keys(costs.costs).length > 0;  // without any costs nothing holds that could stand in for one
      if (input.dataset.class) input.placeholder = !some ? "" : String(this.#other(input.dataset.class, input.dataset.field, costs.costs) ?? "").replace("-", "−");
    }
    classes.forEach((one, k) => { $("costs-rows").children[k + 1].lastChild.textContent = one.threshold === null ? "–" : decimal(one.threshold); });
    $("no-costs").hidden = !Object.keys(costs.costs).length;
    this.#outcome();
  }

  #build(names) {
    this.names = JSON.stringify(names);
    const cell = (name, field, what) => make("td", {}, make("input", {
      type: "text", inputmode: "decimal", autocomplete: "off", "data-class": name, "data-field": field, "aria-label": `${name === "*" ? "All classes" : name}: ${what}`,
    }));
    const row = (name, title) => make("tr", {}, make("th", { scope: "row" }, title), FIELDS.map(([field, what]) => cell(name, field, what)), make("td", { class: "threshold" }, "–"));
    $("costs-rows").replaceChildren(row("*", "all classes"), ...names.map((name) => row(name, bdi(name))));
  }

  #outcome() {
    const { decisions, quality, costs, outdated } = this.desk.state, typed = $("panel-costs").querySelector("[data-typed]") !== null;
    const old = String(typed || Boolean(outdated?.decisions));  // of the costs before
    for (const one of [$("costs-outcome"), $("costs-utility"), ...$("costs-rows").querySelectorAll(".threshold")]) one.setAttribute("aria-busy", old);
    const parts = [`${count(decisions.decided)} decided`, `${count(decisions.unsure)} unsure, for a person`, `${count(decisions.none)} without a class`];
    if (decisions.over_budget) parts.push(`${count(decisions.over_budget)} unsure beyond the budget of ${count(costs.budget)} a day`);
    $("costs-outcome").textContent = parts.join(" · ");
    const utility = quality.utility_per_1000;
    $("costs-utility").textContent = utility
      ? `Expected of 1,000 texts: ${amount(utility.value)} ${costs.currency} (${amount(utility.low)} to ${amount(utility.high)}).`
      : "";
  }

  // What holds where nothing is typed.
  #other(name, field, table) {
    return (name === "*" ? undefined : table["*"]?.[field]) ?? START[field];
  }

  // All numbers of the form, or null where one is none.
  #read() {
    const table = {}, others = {};
    let wrong = "";
    for (const input of $("panel-costs").querySelectorAll("input[data-field]")) {
      const { class: name, field } = input.dataset;
      if (field === "currency") { others[field] = input.value.trim() || "€"; continue; }
      const text = input.value.trim().replace("−", "-").replace(",", "."), value = text === "" ? null : Number(text);
      const whole = field !== "budget" || Number.isInteger(value), owed = name !== undefined || value >= 0;
      const good = value === null || (Number.isFinite(value) && whole && owed);
      input.setAttribute("aria-invalid", String(!good));
      if (!good) wrong ||= `${input.getAttribute("aria-label")} should be ${name ? "a number, such as −20" : "a number of at least 0"}; it is “${input.value}”.`;
      if (name === undefined) others[field] = value;
      else if (value !== null) (table[name] ??= {})[field] = value;
    }
    const named = Object.keys(table);
    if (named.length && !this.desk.names().every((name) => named.includes(name))) table["*"] ??= {};
    for (const [name, one] of Object.entries(table).sort(([a]) => (a === "*" ? -1 : 1))) {
      for (const field of Object.keys(START)) one[field] ??= this.#other(name, field, table);
      wrong ||= odd(name === "*" ? "All classes" : name, one);
    }
    $("costs-wrong").textContent = wrong;
    return wrong ? null : { costs: table, ...others };
  }

  async #send() {
    const content = this.#read();
    if (content === null) return;
    const typed = [...$("panel-costs").querySelectorAll("[data-typed]")].map((input) => [input, input.value]);
    if (this.sent && same(content, this.sent)) return;  // Enter and leaving a field both say so
    if (!same(content, this.desk.state.costs)) {
      this.sent = content;
      const stored = await this.desk.act("costs", content, "Costs saved");
      if (this.sent === content) this.sent = null;
      if (!stored) return;
    }
    for (const [input, value] of typed) if (input.value === value) delete input.dataset.typed;
    this.show();
  }
}

function odd(name, { hit, false_alarm: alarm, miss, ask }) {
  if (alarm >= 0) return `${name}: a false alarm costs something, so type it with a minus, such as −2.`;
  if (hit <= miss) return `${name}: a hit should be worth more than a miss; a miss that costs is typed with a minus, such as −20.`;
  if (ask > 0) return `${name}: asking a person costs something or nothing; type it with a minus, such as −1.`;
  return "";
}

function same(a, b) {
  const plain = (one) => JSON.stringify([Object.entries(one.costs).sort(([x], [y]) => (x < y ? -1 : 1)).map(([name, own]) =>
    [name, FIELDS.map(([field]) => own[field] ?? null)]), one.minute ?? null, one.currency, one.budget ?? null]);
  return plain(a) === plain(b);
}
