// The text that is read: words tinted by what they contribute, marked passages, and a cursor that goes from word to word by keys.
import { announce, make, plural, signed } from "./dom.js";
import { findWords, offsets, spread } from "./words.js";

const PIECE = 20_000;  // characters shown at a time: nobody reads a million, and a browser would take seconds to lay them out

export class TextView {
  // onPassage({start, end, text, words, byKeys, rect}): words were clicked, selected, or chosen by keys.
  constructor(container, onPassage) {
    this.container = container;
    this.onPassage = onPassage;
    this.words = [];
    this.cursor = this.anchor = -1;
    container.addEventListener("pointerup", (event) => this.#pointed(event));
    container.addEventListener("keydown", (event) => this.#typed(event));
  }

  show(item) {
    this.item = item;
    this.at = offsets(item.content);
    this.words = [];
    this.cursor = this.anchor = -1;
    this.shown = 0;
    this.container.dir = item.direction || "auto";
    if (item.language) this.container.lang = item.language;
    else this.container.removeAttribute("lang");
    this.container.replaceChildren();
    this.#more();
  }

  // New contributions and marks for the words that are there.
  tint(item) {
    this.item = item;
    const { data, prior } = spread(item.tokens, this.at.length);
    let most = 1e-9;
    for (const word of this.words) {
      word.data = data(word.start, word.end);
      word.prior = prior(word.start, word.end);
      most = Math.max(most, Math.abs(word.data), Math.abs(word.prior));
    }
    for (const word of this.words) {
      const fromData = Math.abs(word.data) / most, fromPrior = Math.abs(word.prior) / most;
      word.element.classList.toggle("data-for", fromData > 0.04 && word.data > 0);
      word.element.classList.toggle("data-against", fromData > 0.04 && word.data < 0);
      word.element.classList.toggle("prior-for", fromPrior > 0.04 && word.prior > 0);
      word.element.classList.toggle("prior-against", fromPrior > 0.04 && word.prior < 0);
      word.element.style.setProperty("--strength", `${Math.round(12 + 40 * fromData)}%`);
      const parts = [];
      if (fromData > 0.04) parts.push(`${signed(word.data)} from labels`);
      if (fromPrior > 0.04) parts.push(`${signed(word.prior)} from what was named`);
      if (parts.length) word.element.title = `${parts.join(", ")}, for ${item.label}`;
      else word.element.removeAttribute("title");
    }
    for (const piece of this.container.querySelectorAll("[data-start]")) {
      const start = Number(piece.dataset.start), end = Number(piece.dataset.end);
      const mark = item.marks.find((one) => one.start < end && start < one.end);
      piece.classList.toggle("marked", mark !== undefined);
      piece.classList.toggle("mark-start", mark !== undefined && start <= mark.start);
      piece.classList.toggle("mark-end", mark !== undefined && end >= mark.end);
      if (mark && end >= mark.end) piece.dataset.label = mark.label;
      else delete piece.dataset.label;
    }
  }

  #more() {
    const { content } = this.item, from = this.shown;
    let to = Math.min(content.length, from + PIECE);
    if (to < content.length) {
      const blank = content.lastIndexOf(" ", to);
      if (blank > from + PIECE / 2) to = blank;
      else if (/[\ud800-\udbff]/.test(content[to - 1])) to--;
    }
    this.container.querySelector(".more")?.remove();
    const parts = [];
    let last = from;
    const gap = (start, end) => {
      if (end > start) parts.push(make("span", { "data-start": this.at.toPoint(start), "data-end": this.at.toPoint(end) }, content.slice(start, end)));
    };
    for (const [start, end] of findWords(content, from, to)) {
      gap(last, start);
      const element = make("span", { class: "word", "data-start": this.at.toPoint(start), "data-end": this.at.toPoint(end) }, content.slice(start, end));
      this.words.push({ element, start: this.at.toPoint(start), end: this.at.toPoint(end) });
      parts.push(element);
      last = end;
    }
    gap(last, to);
    this.container.append(...parts);
    this.shown = to;
    if (to < content.length) {
      const rest = plural(content.length - to, "more character");
      this.container.append(make("button", { type: "button", class: "more", onclick: () => this.#more() }, `Show more (${rest})`));
    }
    this.tint(this.item);
  }

  passage(first, last, byKeys) {
    const [a, b] = first <= last ? [first, last] : [last, first];
    const start = this.words[a].start, end = this.words[b].end;
    return {
      start, end, byKeys, first: a, last: b, n: b - a + 1,
      text: this.item.content.slice(this.at.toUnit(start), this.at.toUnit(end)),
      data: this.words.slice(a, b + 1).reduce((sum, word) => sum + word.data, 0),
      prior: this.words.slice(a, b + 1).reduce((sum, word) => sum + word.prior, 0),
      element: this.words[b].element,
    };
  }

  // Shows which words are meant; -1 for none.
  choose(first, last = first) {
    const [a, b] = first <= last ? [first, last] : [last, first];
    this.words.forEach((word, k) => word.element.classList.toggle("chosen", first >= 0 && k >= a && k <= b));
  }

  leave() {
    this.#roam(-1);
    this.anchor = -1;
    this.choose(-1);
    getSelection()?.removeAllRanges();
  }

  #pointed(event) {
    if (event.target.closest(".more")) return;
    const selection = getSelection();
    let chosen = [];
    if (selection && !selection.isCollapsed && selection.rangeCount) {
      const range = selection.getRangeAt(0);
      chosen = this.words.map((_, k) => k).filter((k) => touches(range, this.words[k].element));
    } else {
      chosen = [this.words.findIndex((word) => word.element === event.target.closest(".word"))].filter((k) => k >= 0);
    }
    if (!chosen.length) return;
    selection?.removeAllRanges();
    const [first, last] = [chosen[0], chosen.at(-1)];
    this.choose(first, last);
    this.onPassage(this.passage(first, last, false));
  }

  #typed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(".more")) return;
    const forward = this.container.dir === "rtl" ? "ArrowLeft" : "ArrowRight", back = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const step = { [forward]: 1, [back]: -1 }[event.key];
    if (step && this.words.length) {
      event.preventDefault();
      const next = this.cursor < 0 ? (step > 0 ? 0 : this.words.length - 1) : Math.min(Math.max(this.cursor + step, 0), this.words.length - 1);
      if (!event.shiftKey || this.anchor < 0) this.anchor = event.shiftKey && this.cursor >= 0 ? this.cursor : next;
      this.#roam(next);
      this.choose(this.anchor, next);
      if (this.anchor !== next) announce(this.passage(this.anchor, next, true).text);
    } else if (event.key === "Enter" && this.cursor >= 0) {
      event.preventDefault();
      event.stopPropagation();
      this.onPassage(this.passage(this.anchor, this.cursor, true));
    } else if (event.key === "Escape" && this.cursor >= 0) {
      event.stopPropagation();
      this.leave();
      this.container.focus({ preventScroll: true });
    }
  }

  // The word under the cursor is a button while it is: the others are plain text to screen readers.
  #roam(next) {
    const before = this.words[this.cursor]?.element;
    for (const name of ["role", "tabindex", "aria-haspopup"]) before?.removeAttribute(name);
    this.cursor = next;
    const now = this.words[next]?.element;
    if (!now) return;
    now.setAttribute("role", "button");
    now.setAttribute("aria-haspopup", "dialog");
    now.tabIndex = -1;
    now.focus();
  }
}

function touches(range, element) {
  if (!range.intersectsNode(element)) return false;
  const inside = document.createRange();
  inside.selectNodeContents(element.firstChild);
  // Ends that meet without a character in common do not count.
  return range.compareBoundaryPoints(Range.END_TO_START, inside) < 0 && range.compareBoundaryPoints(Range.START_TO_END, inside) > 0;
}
