// Texts that have certain words, and texts like another.
import { $, list, make, percent, plural } from "./dom.js";

export class Search {
  constructor(desk) {
    this.desk = desk;
    this.asked = 0;
    this.dialog = $("search");
    let timer;
    $("search-words").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.#find(), 200); });
    $("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      this.#find().then(() => this.dialog.querySelector(".rows button")?.focus());
    });
    $("search-rows").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const all = [...$("search-rows").querySelectorAll("button")], next = all[all.indexOf(document.activeElement) + step];
      (next ?? (step < 0 ? $("search-words") : document.activeElement)).focus();
    });
  }

  open() {
    $("search-heading").textContent = "Search";
    $("search-form").hidden = false;
    this.#rows([], "Type a word, or a part of one.", "search");
    this.dialog.showModal();
    $("search-words").select();
    if ($("search-words").value) this.#find();
  }

  async openSimilar() {
    const item = this.desk.item;
    if (item?.kind !== "text") return;
    $("search-heading").textContent = `Like text ${item.text + 1}`;
    $("search-form").hidden = true;
    this.#rows([], "Looking…", "similar");
    this.dialog.showModal();
    await this.#ask(`/api/similar/${item.text}`, { n: 10 }, "similar", (n) => (n ? "By the string kernel: misspellings and inflections stay alike." : "No text is like it."));
    this.dialog.querySelector(".rows button")?.focus();
  }

  #find() {
    const query = $("search-words").value.trim();
    if (!query) { this.#rows([], "Type a word, or a part of one.", "search"); return Promise.resolve(); }
    return this.#ask("/api/search", { query, n: 50 }, "search", (n, shown) => (n ? plural(n, "text") + (n > shown ? `, the first ${shown} here` : "") : `No text has “${query}”.`));
  }

  async #ask(path, parameters, source, say) {
    const asked = ++this.asked;
    try {
      const { texts, n } = await this.desk.api.get(path, parameters);
      if (asked === this.asked) this.#rows(texts, say(n, texts.length), source);
    } catch (error) {
      if (asked === this.asked) this.#rows([], error.message, source);
    }
  }

  #rows(texts, note, source) {
    $("search-note").textContent = note;
    $("search-rows").replaceChildren(...texts.map(({ text, snippet: [before, hit, after], labels, similarity }) =>
      make("li", {}, make("button", { type: "button", class: "link snippet", dir: "auto", onclick: () => { this.dialog.close(); this.desk.open(text, source); } },
        before, hit && make("mark", {}, hit), after),
      make("span", { class: "soft" }, similarity === undefined ? " " : ` ${percent(similarity)} alike`, labels ? [similarity === undefined ? "" : " · ", ...list(labels)] : ""))));
  }
}
