// Reading mode: only the words around the pointer are sharp, or around the word that the arrow keys chose; where that is, sampled
// every 25 ms, says what is being read. Nothing is sampled without consent; what was sampled is given away once, by stop().
//
//   startReading(container, { words, consent, onReading })
//     container   the element that shows the text, and buttons at most; elements within it (tints, marks) may cut words in parts
//     words       [[start, end], …] in code points of the text
//     consent     whether how the text is read may be sent; false by default
//     onReading   gets { time, word, x, word_starts }: milliseconds, the word (-1: none), pixels from where lines start
//   stop({ send: true })

export const CONSENT =
  "In reading mode all words are blurred but those around your pointer. If you agree, the desk stores which word your pointer " +
  "was on, when and for how long, under your name, in the project file on this machine, each time you label or skip a text. It " +
  "is used to see whether how people read helps to tell the classes apart. It may well not, and the desk will say so. Whoever has " +
  "the project file can see it. You can take this back at any time: from then on nothing more is stored, and what was " +
  "stored is deleted from the project file; copies of it that somebody made are not.";

export const HINT =
  "Reading mode: move the pointer over the text, or put the focus on it and use the arrow keys, to make words sharp.";

const SAMPLE_EVERY = 25; // ms: 40 a second
const IDLE = 6000; // ms without any movement after which nothing is sampled; the desk drops fixations of 5 s and more
const MOST_SAMPLES = 24000; // ten minutes
const MOST_WORDS = 5000; // beyond these a browser takes too long to blur them one by one
const REACH = 8; // characters that are sharp on either side of the word, to the end of the word in which they end

let session = null;

/** Begin; false, with nothing changed, where the text has more words than can be blurred. */
export function startReading(container, { words, onReading = () => {}, consent = false }) {
  stop({ send: false });
  if (words.length > MOST_WORDS) return false;
  session = new Session(container, words, consent === true, onReading);
  return true;
}

/** End, and give what was read to onReading, unless it is not to be sent, nobody agreed or no word was looked at. */
export function stop({ send = true } = {}) {
  const ended = session;
  session = null;
  ended?.end(send);
}

class Session {
  constructor(container, words, consent, onReading) {
    Object.assign(this, { container, words, consent, onReading });
    this.samples = { time: [], place: [] };
    this.pointer = null; // { x, y } in the window
    this.chosen = -1; // word, by arrow keys
    this.sharp = [];
    this.word = -1;
    this.begin = performance.now();
    this.moved = this.begin;
    this.away = new AbortController();
    this.observer = new MutationObserver(() => this.wrap());
    this.addedFocus = !container.hasAttribute("tabindex");
    if (this.addedFocus) container.tabIndex = 0;
    container.classList.add("reading");
    this.wrap();
    const listen = (target, name, act) =>
      target.addEventListener(name, act, { signal: this.away.signal, capture: name === "scroll" }); // scrolling does not bubble
    const point = (event) => this.point(event.clientX, event.clientY);
    listen(document, "pointermove", point);
    listen(document, "pointerdown", point);
    listen(document.documentElement, "pointerleave", () => this.point(null));
    listen(document, "scroll", () => this.look());
    listen(container, "keydown", (event) => this.press(event));
    listen(container, "focusin", (event) => this.follow(event.target));
    listen(container, "focusout", (event) => container.contains(event.relatedTarget) || this.choose(-1));
    this.timer = consent ? setInterval(() => this.sample(), SAMPLE_EVERY) : null;
  }

  end(send) {
    clearInterval(this.timer);
    this.away.abort();
    this.sample();
    const found = this.samples.place.map(({ word }) => word);
    const starts = this.words.map((_, word) => this.start(word));
    const reading = {
      time: this.samples.time,
      word: found,
      x: this.samples.place.map(({ word, x }) => Math.round(10 * (word < 0 ? x : starts[word] + x)) / 10),
      word_starts: starts.map((start) => Math.round(10 * start) / 10),
    };
    this.unwrap();
    this.container.classList.remove("reading");
    if (this.addedFocus) this.container.removeAttribute("tabindex");
    if (send && this.consent && found.some((word) => word >= 0)) this.onReading(reading);
  }

  // Words as elements

  wrap() {
    this.unwrap();
    this.parts = this.words.map(() => []); // elements of each word
    const walker = document.createTreeWalker(this.container, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("button")) nodes.push(walker.currentNode);
    let at = 0; // code points before the node
    let word = 0;
    for (const node of nodes) {
      const letters = Array.from(node.data); // code points, as the offsets count
      const pieces = [];
      let done = 0;
      const plain = (end) => end > done && pieces.push(document.createTextNode(letters.slice(done, end).join("")));
      for (; word < this.words.length && this.words[word][0] < at + letters.length; word++) {
        const [start, end] = this.words[word].map((place) => Math.min(Math.max(place - at, 0), letters.length));
        plain(start);
        const part = document.createElement("span");
        part.className = "reading-word";
        part.dataset.word = word;
        part.textContent = letters.slice(start, end).join("");
        if (end > start) this.parts[word].push(part), pieces.push(part);
        done = Math.max(done, end);
        if (this.words[word][1] > at + letters.length) break; // goes on in the next node
      }
      plain(letters.length);
      at += letters.length;
      if (pieces.some((piece) => piece.nodeType === Node.ELEMENT_NODE)) node.replaceWith(...pieces);
    }
    this.sharp = [];
    this.show(this.word);
    for (const part of this.parts[this.chosen] ?? []) part.classList.add("reading-chosen");
    this.observer.observe(this.container, { childList: true, subtree: true, characterData: true }); // drawn anew: wrap anew
  }

  unwrap() {
    this.observer.disconnect();
    const parents = new Set();
    for (const part of this.container.querySelectorAll(".reading-word")) {
      parents.add(part.parentNode);
      part.replaceWith(part.textContent);
    }
    for (const parent of parents) parent.normalize();
  }

  /** Which word is at a place of the window. */
  at(x, y) {
    const part = document.elementFromPoint(x, y)?.closest(".reading-word");
    return part && this.container.contains(part) ? Number(part.dataset.word) : -1;
  }

  /** Pixels from where lines start: from the right where they run from right to left. */
  across(left, right = left) {
    const box = this.container.getBoundingClientRect();
    return getComputedStyle(this.container).direction === "rtl" ? box.right - right : left - box.left;
  }

  box(word) {
    return this.parts[word][0]?.getClientRects()[0] ?? null; // a word of nothing visible has none
  }

  start(word) {
    const box = this.box(word);
    return box ? this.across(box.left, box.right) : 0;
  }

  // Where the reader is

  point(x, y = 0) {
    this.pointer = x === null ? null : { x, y };
    this.moved = performance.now();
    if (this.chosen >= 0) this.choose(-1);
    else this.look();
  }

  choose(word) {
    for (const part of this.parts[this.chosen] ?? []) part.classList.remove("reading-chosen");
    this.chosen = word;
    this.moved = performance.now();
    for (const part of this.parts[word] ?? []) part.classList.add("reading-chosen");
    this.look();
  }

  look() {
    const word = this.chosen >= 0 ? this.chosen : this.pointer ? this.at(this.pointer.x, this.pointer.y) : -1;
    if (word !== this.word) this.show(word);
  }

  show(word) {
    this.word = word;
    for (const part of this.sharp) part.classList.remove("reading-sharp");
    this.sharp = word < 0 ? [] : this.around(word).flatMap((near) => this.parts[near]);
    for (const part of this.sharp) part.classList.add("reading-sharp");
  }

  around(word) {
    let [first, last] = [word, word];
    const [start, end] = this.words[word];
    while (first > 0 && this.words[first - 1][1] > start - REACH) first--;
    while (last < this.words.length - 1 && this.words[last + 1][0] < end + REACH) last++;
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  }

  /** The focus is on a word, where the page moves it by itself. */
  follow(element) {
    const part = element === this.container ? null : (element.closest(".reading-word") ?? element.querySelector(".reading-word"));
    if (part) this.choose(Number(part.dataset.word));
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target !== this.container) return;
    const rtl = getComputedStyle(this.container).direction === "rtl";
    const steps = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1 };
    const last = this.words.length - 1;
    let word;
    if (event.key in steps) word = this.chosen < 0 ? Math.max(this.word, 0) : this.chosen + steps[event.key];
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") word = this.vertical(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Home" || event.key === "End") word = event.key === "Home" ? 0 : last;
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(Math.min(Math.max(word, 0), last));
    this.parts[this.chosen]?.[0]?.scrollIntoView({ block: "nearest" });
  }

  /** The word above or below the one that is chosen. */
  vertical(step) {
    if (this.chosen < 0) return Math.max(this.word, 0);
    const here = this.box(this.chosen);
    const middle = (here.left + here.right) / 2;
    let best = this.chosen;
    let line = null;
    for (let word = this.chosen + step; word >= 0 && word < this.words.length; word += step) {
      const box = this.box(word);
      if (!box || Math.abs(box.top - here.top) < here.height / 2) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > here.height / 2) break;
      const off = (one) => Math.abs((one.left + one.right) / 2 - middle);
      if (best === this.chosen || off(box) < off(this.box(best))) best = word;
    }
    return best;
  }

  sample() {
    const now = performance.now();
    if (!this.consent || document.hidden || now - this.moved > IDLE || this.samples.time.length >= MOST_SAMPLES) return;
    this.look(); // the text may have moved below a pointer that rests
    const box = this.word < 0 ? null : this.box(this.word);
    const x = this.chosen >= 0 && box ? (box.left + box.right) / 2 : this.pointer?.x ?? null;
    const across = x === null ? 0 : this.across(x);
    this.samples.time.push(Math.round(10 * (now - this.begin)) / 10);
    this.samples.place.push({ word: this.word, x: this.word < 0 ? across : across - this.start(this.word) });
  }
}
