// The small menu at a word or a passage: mark it for a class, make it a keyword for or against one, or strike it.
import { $, bdi, key, make, signed } from "./dom.js";

export class WordMenu {
  constructor(desk, text) {
    this.desk = desk;
    this.text = text;
    this.box = $("menu");
    this.box.addEventListener("keydown", (event) => this.#typed(event));
    document.addEventListener("pointerdown", (event) => {
      if (!this.box.hidden && !this.box.contains(event.target) && !this.text.container.contains(event.target)) this.close(false);
    });
    desk.on("item", () => this.close(false));
  }

  get isOpen() { return !this.box.hidden; }

  // passage: as TextView gives it. word: a keyword by itself {word, label, why, weight, element}.
  open({ passage = null, word = null }) {
    if (!this.desk.state.classes.length) return;
    this.passage = passage;
    this.word = word;
    const item = this.desk.item;
    this.label = word?.label ?? (passage && this.#markThere()?.label) ?? item.labels?.[0] ?? item.label ?? this.desk.names()[0];
    this.back = document.activeElement;
    this.box.hidden = false;
    this.#show();
    this.#place((passage ?? word).element);
    (this.box.querySelector("[data-primary]") ?? this.box.querySelector("button")).focus({ preventScroll: true });
  }

  close(giveBack = true) {
    if (this.box.hidden) return;
    this.box.hidden = true;
    this.text.leave();
    if (giveBack) (this.back?.isConnected && this.back !== document.body ? this.back : this.text.container).focus({ preventScroll: true });
  }

  #markThere() {
    return this.desk.item.marks.find((mark) => mark.start < this.passage.end && this.passage.start < mark.end);
  }

  #show() {
    const { passage, word, label } = this, phrase = passage?.text.replace(/\s+/g, " ").trim() ?? word.word;
    const spoken = phrase.length > 60 ? `${phrase.slice(0, 57)}…` : phrase;
    const action = (letter, what, run, primary = false) =>
      make("button", { type: "button", class: "action", "data-letter": letter, "data-primary": primary, "data-focus": letter, onclick: run }, make("span", {}, what), key(letter));
    const keyword = (weight, done) => () =>
      this.#do("keyword", { label: this.label, word: phrase, weight, source: passage ? "text" : (word.source ?? "list") }, done);
    const mark = passage && this.#markThere(), named = this.#keyword(phrase), rows = [];
    if (passage) {
      rows.push(mark
        ? action("m", ["Remove the mark for ", bdi(mark.label)], () => this.#do("unmark", { text: this.desk.item.text, ...pick(mark) }, "Mark removed"))
        : action("m", ["Mark for ", bdi(label)], () => this.#do("mark", { text: this.desk.item.text, start: this.passage.start, end: this.passage.end, label: this.label },
          `Marked for ${this.label}: ${spoken}`), passage.n > 1));
    }
    if (phrase.length <= 100) {
      rows.push(
        action("f", ["Keyword for ", bdi(label)], keyword(1, `${spoken} speaks for ${label}`), !passage || passage.n === 1),
        action("a", ["Keyword against ", bdi(label)], keyword(-1, `${spoken} speaks against ${label}`)),
        action("x", ["Strike: says nothing of ", bdi(label)], keyword(0, `${spoken} struck for ${label}`)));
      if (named) rows.push(action("r", "Not a keyword any more", keyword(null, `${spoken} is no keyword any more`)));
    }
    const choice = make("select", { "aria-label": "Class", "data-focus": "class", onchange: (event) => { this.label = event.target.value; this.#again(); } },
      this.desk.names().map((name) => make("option", { value: name, selected: name === label }, name)));
    const about = [];
    if (passage && (passage.data || passage.prior)) about.push(`${signed(passage.data)} from labels, ${signed(passage.prior)} from what was named, for ${this.desk.item.label}.`);
    if (named) about.push(`${{ "1": "For", "-1": "Against", 0: "Struck for" }[named.weight] ?? "Named for"} ${label}: ${named.status}. ${named.why ?? ""}`);
    this.box.setAttribute("aria-label", `What ${spoken} says`);
    const wider = passage && make("div", { class: "wider" }, "Words:",
      make("button", { type: "button", "aria-label": "One word more before", onclick: () => this.#widen(-1, 0) }, "←"),
      make("button", { type: "button", "aria-label": "One word more after", onclick: () => this.#widen(0, 1) }, "→"));
    this.box.replaceChildren(...[
      make("p", { class: "phrase", dir: "auto" }, spoken),
      make("label", { class: "of" }, make("span", {}, "Class"), choice, wider),
      make("div", { class: "actions" }, rows),
      ...about.map((line) => make("p", { class: "soft" }, line)),
    ].filter(Boolean));
  }

  #again() {
    const inner = document.activeElement?.dataset?.focus;
    this.#show();
    ([...this.box.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === inner) ?? this.box.querySelector("button")).focus({ preventScroll: true });
  }

  #keyword(phrase) {
    const words = this.desk.state.classes.find((one) => one.name === this.label)?.keywords ?? [];
    return words.find((one) => one.word.toLowerCase() === phrase.toLowerCase());
  }

  #widen(before, after) {
    const first = Math.max(0, this.passage.first + before), last = Math.min(this.text.words.length - 1, this.passage.last + after);
    this.passage = this.text.passage(first, last, this.passage.byKeys);
    this.text.choose(first, last);
    this.#show();
    this.box.querySelector(before ? ".wider button" : ".wider button + button").focus({ preventScroll: true });
  }

  #do(kind, content, done) {
    this.close();
    return this.desk.act(kind, content, done);
  }

  #typed(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const digit = Number(event.key), name = digit ? this.desk.classOfKey(digit) : undefined;
    if (name) {
      event.preventDefault();
      event.stopPropagation();
      this.label = name;
      this.#again();
    } else if (["ArrowDown", "ArrowUp"].includes(event.key) && event.target.tagName === "BUTTON") {
      event.preventDefault();
      const all = [...this.box.querySelectorAll(".actions button")], at = all.indexOf(event.target);
      all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1)) % all.length].focus();
    } else if (event.key === "Tab") {  // stays inside until it is closed
      const all = [...this.box.querySelectorAll("button, select")], end = event.shiftKey ? all[0] : all.at(-1);
      if (event.target === end) {
        event.preventDefault();
        (event.shiftKey ? all.at(-1) : all[0]).focus();
      }
    } else if (event.target.tagName !== "SELECT") {
      const chosen = [...this.box.querySelectorAll("[data-letter]")].find((one) => one.dataset.letter === event.key.toLowerCase());
      if (chosen) {
        event.preventDefault();
        event.stopPropagation();
        chosen.click();
      }
    }
  }

  #place(element) {
    if (matchMedia("(max-width: 48rem)").matches) {  // a sheet at the bottom, by its style
      this.box.style.left = this.box.style.top = "";
      return;
    }
    const at = element.getBoundingClientRect(), { width, height } = this.box.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), innerWidth - width - 8);
    const below = at.bottom + 8 + height < innerHeight ? at.bottom + 8 : Math.max(8, at.top - height - 8);
    this.box.style.left = `${left + scrollX}px`;
    this.box.style.top = `${below + scrollY}px`;
  }
}

const pick = ({ start, end, label }) => ({ start, end, label });
