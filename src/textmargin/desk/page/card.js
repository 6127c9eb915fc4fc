// The middle of the page: a text with the buttons of its classes, a question about a word, or the end of the queue.
import { $, announce, bdi, key, list, make, percent, plural, replace } from "./dom.js";

const SOURCES = {
  tie: "Close call", balanced: "Spread over classes", random: "Random sample", search: "Found by search", similar: "Like another",
  disagreement: "Model and people differ", conflict: "People differ", list: "Chosen",
};

export class Card {
  constructor(desk, text) {
    this.desk = desk;
    this.text = text;
    this.picked = new Set();
    $("filter").addEventListener("input", () => this.#narrow());
    $("filter").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      $("labels").querySelector("button:not([hidden])")?.click();
      $("filter").value = "";
      this.#narrow();
    });
    desk.on("item", (item) => this.show(item));
    desk.on("tint", (item) => { this.text.tint(item); this.#about(item); this.#labels(item); this.#legend(item); });
    desk.on("state", () => { if (this.desk.item?.kind === "text") this.#labels(this.desk.item); this.#worth(); });
    desk.on("saving", ({ kind, content }) => {
      if (kind !== "label" && kind !== "skip") return;
      $("card").setAttribute("aria-busy", "true");
      for (const one of $("labels").querySelectorAll("button")) one.classList.toggle("on-its-way", content.labels?.includes(one.dataset.name) ?? false);
    });
    desk.on("saved", () => {
      $("card").removeAttribute("aria-busy");
      for (const one of $("labels").querySelectorAll(".on-its-way")) one.classList.remove("on-its-way");
    });
  }

  show(item) {
    const kinds = { text: "reader", word: "question", done: "end" };
    for (const [kind, id] of Object.entries(kinds)) $(id).hidden = kind !== item.kind;
    ({ text: () => this.#read(item), word: () => this.#ask(item), done: () => this.#end(item) })[item.kind]();
  }

  #read(item) {
    this.picked = new Set(item.labels ?? []);
    $("filter").value = "";
    this.text.show(item);
    this.#about(item);
    this.#legend(item);
    this.#labels(item);
    $("text").setAttribute("aria-label", `Text ${item.text + 1}. Arrow keys go from word to word, Enter says what a word means.`);
    this.#focus($("text"));
    const spoken = item.content.length > 600 ? `${item.content.slice(0, 600)} … and so on` : item.content;
    announce(`Text ${item.text + 1}. ${spoken}`);
  }

  #focus(element) {
    scrollTo({ top: 0 });
    if (!document.querySelector("dialog[open]")) element.focus({ preventScroll: true });
  }

  #about(item) {
    replace($("about"),
      this.desk.names().length > 0 && make("span", { class: `source ${item.source}` }, SOURCES[item.source] ?? item.source),
      this.desk.names().length > 0 && make("span", { class: "why" }, item.why),
      make("span", { class: "number" }, `text ${item.text + 1}`, item.n_similar ? `, with ${plural(item.n_similar, "near copy", "near copies")}` : ""));
    const notes = [];
    if (item.labels) notes.push(make("span", {}, "You said: ", list(item.labels)));
    if (item.given) notes.push(make("span", {}, "In the file: ", list(item.given)));
    notes.push(make("span", {}, this.#guess(item)));
    replace($("says"), ...notes);
  }

  #guess({ scores, predicted, unsure }) {
    if (!this.desk.names().length) return "";
    if (!scores.length) return "The model knows nothing yet: name a word for each class at the side, or begin with labels.";
    if (unsure || (!predicted.length && !this.desk.state.project.multilabel)) {
      return [make("strong", {}, "The model is unsure"), ...(scores.length > 1 ? [": ", bdi(scores[0].name), " or ", bdi(scores[1].name), "?"] : ["."])];
    }
    return ["The model would say: ", make("strong", {}, list(predicted))];
  }

  #legend(item) {
    const names = this.desk.names();
    $("legend").hidden = !names.length || !item.scores.length;
    const choice = make("select", { "aria-label": "Words are tinted for", "data-focus": "tint", onchange: (event) => this.desk.refresh(event.target.value).catch(() => {}) },
      names.map((name) => make("option", { value: name, selected: name === item.label }, name)));
    const sample = (kind, what) => make("span", { class: "sample" }, make("span", { class: `word ${kind}`, "aria-hidden": "true" }, "word"), what);
    replace($("legend"), make("label", {}, "Tinted for ", choice),
      make("span", { class: "samples" }, sample("data-for", "for, from labels"), sample("data-against", "against"), sample("prior-for", "for, as named or near a named word"), sample("prior-against", "against")));
  }

  #labels(item) {
    const { multilabel } = this.desk.state.project, classes = this.desk.state.classes;
    const chances = new Map(item.scores.map((one) => [one.name, one.probability]));
    const needed = multilabel ? 1 : 2;
    $("no-classes").hidden = classes.length >= needed;
    $("no-classes").textContent = `To begin, name ${needed === 1 ? "a class" : "at least two classes"} under Classes.`;
    $("labels-heading").textContent = multilabel ? "Which of these? Several, or none" : "Which is it?";
    replace($("labels"), classes.map((one) => {
      const chance = chances.get(one.name), pressed = this.picked.has(one.name);
      const bar = make("span", { class: "chance", "aria-hidden": "true" });
      bar.style.setProperty("--chance", chance ?? 0);
      return make("button", {
        type: "button", class: "label", "data-name": one.name, "data-focus": `label ${one.name}`, "data-guess": item.predicted.includes(one.name), "aria-pressed": multilabel || pressed ? String(pressed) : null,
        onclick: () => this.choose(one.name), "aria-keyshortcuts": one.key,
      }, key(one.key ?? ""), make("span", { class: "name", dir: "auto" }, one.name),
      item.predicted.includes(one.name) && make("span", { class: "guess" }, "guess"),
      make("span", { class: "percent" }, chance === null || chance === undefined ? "" : percent(chance)), bar);
    }));
    $("confirm").hidden = !multilabel || !classes.length;
    $("confirm-what").textContent = this.picked.size ? `Save ${plural(this.picked.size, "label")}` : "None of these";
    $("filter-box").hidden = classes.length <= 9;
    this.#narrow();
  }

  #narrow() {
    const part = $("filter").value.trim().toLowerCase();
    for (const one of $("labels").children) one.hidden = !one.dataset.name.toLowerCase().includes(part);
  }

  #worth() {
    const { worth } = this.desk.state;
    $("worth").hidden = !worth?.text;
    $("worth").classList.toggle("stop", Boolean(worth?.stop));
    $("worth").setAttribute("aria-busy", String(Boolean(this.desk.state.outdated?.curve)));
    $("worth").textContent = worth?.text ?? "";
  }

  // A class was chosen by key or click: one label is stored at once, several are picked first.
  choose(name) {
    const item = this.desk.item;
    if (item?.kind !== "text" || this.desk.saving) return;
    if (!this.desk.state.project.multilabel) {
      this.#label(item, [name]);
      return;
    }
    if (!this.picked.delete(name)) this.picked.add(name);
    this.#labels(item);
    announce(`${name} ${this.picked.has(name) ? "picked" : "left out"}. Enter saves ${this.picked.size ? plural(this.picked.size, "label") : "none of these"}.`);
  }

  confirm() {
    const item = this.desk.item;
    if (item?.kind === "text" && !$("confirm").hidden) this.#label(item, this.desk.names().filter((name) => this.picked.has(name)));
  }

  #label(item, labels) {
    const shown = labels.length ? labels.join(", ") : "none of these";
    return this.desk.act("label", { text: item.text, labels, source: item.source, seconds: this.desk.seconds() }, `Saved: ${shown}`);
  }

  skip() {
    const item = this.desk.item;
    if (item?.kind === "text") return this.desk.act("skip", { text: item.text, source: item.source, seconds: this.desk.seconds() }, "Skipped");
    if (item?.kind === "word") return this.judge(null);
    return null;
  }

  #ask(item) {
    $("question-words").replaceChildren("Does ", make("q", { dir: "auto" }, item.word), " speak for ", make("b", { dir: "auto" }, item.label), "?");
    $("question-why").textContent = item.why;
    replace($("examples"), item.examples.map(({ text, snippet: [before, hit, after] }) =>
      make("li", { dir: "auto" }, before, make("mark", {}, hit), after,
        make("button", { type: "button", class: "link", "aria-label": `Read text ${text + 1}`, onclick: () => this.desk.open(text, "list") }, "open"))));
    this.#focus($("question-words"));
    announce(`Does ${item.word} speak for ${item.label}? y yes, n no, a against, space passes it over.`);
  }

  async judge(weight) {
    const item = this.desk.item;
    if (item?.kind !== "word" || this.desk.saving) return;
    const outcome = { "1": `speaks for ${item.label}`, 0: `says nothing of ${item.label}`, "-1": `speaks against ${item.label}`, null: "passed over" }[weight];
    const stored = await this.desk.act("keyword", { label: item.label, word: item.word, weight, source: "queue" }, `${item.word} ${outcome}`);
    if (stored && this.desk.item === item) await this.desk.next();
  }

  #end(item) {
    $("end-why").textContent = item.why;
    this.#focus($("end-heading"));
    announce(item.why);
  }
}
