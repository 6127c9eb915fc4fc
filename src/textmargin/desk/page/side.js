// The side: tabs, and the panel of classes with their counts, keywords and suggestions.
import { $, bdi, count, decimal, hasTyping, key, make, percent, plural, replace } from "./dom.js";

const STATUS = {  // of a keyword: a sign, and what it says
  supported: ["✓", "supported by held-out texts"], adopted: ["•", "in use; no label speaks for or against it yet"], dropped: ["–", "not used: it does not help"],
  contradicted: ["!", "contradicted by labels"], unknown: ["?", "not judged yet"], absent: ["∅", "in no text"], struck: ["×", "struck: says nothing"],
};

export function tabs(onShow) {
  const all = [...document.querySelectorAll("[role=tab]")];
  const show = (tab, focus = true) => {
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      $(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
    if (focus) tab.focus();
    onShow(tab.id);
  };
  for (const tab of all) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = all.indexOf(tab);
      const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : step ? (at + step + all.length) % all.length : -1;
      if (next < 0) return;
      event.preventDefault();
      show(all[next]);
    });
  }
  return (id) => show($(id), false);
}

export class Classes {
  constructor(desk, menu) {
    this.desk = desk;
    this.menu = menu;
    this.open = null;  // the class that is being edited
    desk.on("state", () => this.show());
    $("add-class").addEventListener("submit", (event) => this.#add(event));
    $("classes").addEventListener("focusout", () => setTimeout(() => this.show(), 0));
  }

  show() {
    const { classes, outdated } = this.desk.state, shown = JSON.stringify([classes, this.open, outdated]);
    if (shown === this.shown || hasTyping($("classes"))) return;
    this.shown = shown;
    replace($("classes"), classes.map((one) => this.#one(one)));
    $("signs").hidden = classes.every((one) => !one.keywords.length && !one.suggestions.length);
  }

  #one(one) {
    const { outdated } = this.desk.state, old = "Of the costs before; being computed for the new ones";
    const number = (text, isOld) => make("span", { class: "nowrap", "aria-busy": isOld ? "true" : null, title: isOld ? old : null }, text);
    const numbers = [number(plural(one.n_labels, "label"))];
    if (one.n_predicted !== null) numbers.push(number(`${count(one.n_predicted)} expected${one.share === null ? "" : ` (${percent(one.share)})`}`, outdated?.decisions));
    if (one.quality?.f1 !== null && one.quality?.f1 !== undefined) numbers.push(number(`F1 ${decimal(one.quality.f1)} (${decimal(one.quality.low)}–${decimal(one.quality.high)})`, outdated?.classes));
    const words = one.keywords.map((word) => this.#chip(one, word));
    const hints = one.suggestions.slice(0, 4).map((word) => make("button", {
      type: "button", class: "chip hint", title: word.why, "data-focus": `hint ${one.name} ${word.word}`, "aria-label": `Add the suggested word ${word.word} to ${one.name}. ${word.why}`,
      onclick: () => this.#keyword(one.name, word.word, 1, "suggestion"),
    }, "+ ", bdi(word.word)));
    const edited = this.open === one.name;
    const edit = make("button", {
      type: "button", class: "link", "aria-expanded": String(edited), "data-focus": `edit ${one.name}`, "aria-label": `Edit ${one.name}`,
      onclick: () => { this.open = edited ? null : one.name; this.show(); if (this.open) $("classes").querySelector(".edit input")?.focus(); },
    }, edited ? "close" : "edit");
    return make("li", { class: "class" },
      make("h3", {}, key(one.key ?? ""), make("span", { class: "name", dir: "auto" }, one.name), edit),
      make("p", { class: "soft" }, numbers.flatMap((one, k) => [k ? " · " : "", one])),
      words.length + hints.length > 0 && make("div", { class: "chips" }, words, hints),
      edited && this.#editor(one));
  }

  #chip(one, { word, weight, n_texts: n, status, why }) {
    const [sign, meaning] = STATUS[status] ?? ["", status];
    const side = weight > 0 ? "for" : weight < 0 ? "against" : "struck";
    const spoken = { for: "speaks for", against: "speaks against", struck: "struck for" }[side];
    return make("button", {
      type: "button", class: `chip ${side} ${status}`, "data-focus": `word ${one.name} ${word}`, "aria-haspopup": "dialog",
      title: `${meaning}. ${why} In ${plural(n, "text")}.`, "aria-label": `${word} ${spoken} ${one.name}, in ${plural(n, "text")}: ${meaning}. ${why}`,
      onclick: (event) => this.menu.open({ word: { word, label: one.name, element: event.currentTarget } }),
    }, make("span", { class: "sign" }, side === "against" ? "− " : "", sign), bdi(word));
  }

  #editor(one) {
    const word = make("input", { "aria-label": `A word or phrase that speaks for or against ${one.name}`, placeholder: "word or phrase", maxlength: 100, dir: "auto", "data-focus": `new ${one.name}` });
    const say = (weight) => () => {
      const named = word.value.trim();
      if (!named) { word.focus(); return; }
      word.value = "";
      this.#keyword(one.name, named, weight, "list");
    };
    const name = make("input", { "aria-label": `New name of ${one.name}`, value: one.name, maxlength: 200, dir: "auto", "data-focus": `name ${one.name}` });
    return make("div", { class: "edit" },
      make("form", { onsubmit: (event) => { event.preventDefault(); say(1)(); } }, word,
        make("button", { "data-focus": `for ${one.name}` }, "for"), make("button", { type: "button", onclick: say(-1), "data-focus": `against ${one.name}` }, "against"),
        make("button", { type: "button", onclick: say(0), "data-focus": `strike ${one.name}` }, "strike")),
      make("form", { onsubmit: async (event) => {
        event.preventDefault();
        const to = name.value.trim();
        if (!to || to === one.name) return;
        this.open = null;
        document.activeElement.blur();
        await this.desk.act("rename", { name: one.name, to }, `${one.name} is now ${to}`);
      } }, name, make("button", { "data-focus": `rename ${one.name}` }, "rename")));
  }

  #keyword(label, word, weight, source) {
    const outcome = { "1": "speaks for", "-1": "speaks against", 0: "is struck for" }[weight];
    return this.desk.act("keyword", { label, word, weight, source }, `${word} ${outcome} ${label}`);
  }

  async #add(event) {
    event.preventDefault();
    const box = $("new-class"), name = box.value.trim();
    if (!name) { box.focus(); return; }
    box.value = "";  // at once: the next name may be typed before this one is stored
    if (!(await this.desk.act("class", { name }, `New class: ${name}`)) && !box.value) box.value = name;
  }
}
