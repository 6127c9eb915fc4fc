// What the page knows: the state of the project, what is being read, and who reads. Modules listen to it and act through it.
import { newId, RefusedError } from "./api.js";
import { announce } from "./dom.js";

const NAME = "textmargin-desk-annotator";
const ONE_AT_A_TIME = new Set(["label", "skip", "undo", "redo", "keyword"]);  // a key pressed twice is not two acts

export class DeskPage extends EventTarget {
  constructor(api) {
    super();
    this.api = api;
    this.annotator = sessionStorage.getItem(NAME);  // null: whom the desk was started for
    this.state = null;
    this.item = null;
    this.saving = null;  // what is on its way to the disk
    this.undone = [];  // acts that took others back, newest last: taken back themselves, they bring them again
    this.opened = 0;
  }

  #emit(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
  on(name, listener) { this.addEventListener(name, (event) => listener(event.detail)); }

  rename(name) {
    this.annotator = name;
    sessionStorage.setItem(NAME, name);
    localStorage.setItem(NAME, name);
  }

  get lastName() { return this.who ?? localStorage.getItem(NAME) ?? ""; }

  // Who the acts are by.
  get who() { return this.state?.annotator ?? this.annotator; }
  names() { return this.state ? this.state.classes.map((one) => one.name) : []; }
  classOfKey(digit) { return this.state?.classes.find((one) => one.key === digit)?.name; }

  #apply(state) {
    if (this.state && state.annotator === this.state.annotator && state.version < this.state.version) return;  // an answer that was overtaken
    const moved = this.state !== null && state.version !== this.state.version;
    this.state = state;
    this.#emit("state", state);
    return moved;
  }

  #read(item) {
    this.item = item;
    this.opened = performance.now();
    this.hidden = 0;
    this.#emit("item", item);
  }

  // Seconds that the text was in sight.
  seconds() {
    const passed = (performance.now() - this.opened - this.hidden) / 1000;
    return passed < 900 ? Math.round(100 * passed) / 100 : null;  // a page left open is not somebody reading
  }
  lookedAway(milliseconds) { this.hidden += milliseconds; }

  // Whether it is said who reads: on this page, or when the desk was started.
  get knowsReader() { return this.annotator !== null || this.api.reader !== null; }

  async start() {
    this.#apply(await this.api.getPatiently("/api/state", { annotator: this.annotator }));
    this.#read(await this.api.getPatiently("/api/next", { annotator: this.who }));
  }

  async poll() {
    const state = await this.api.get("/api/state", { annotator: this.who });
    if (this.#apply(state) && !this.saving) await this.refresh();
  }

  async next() { this.#read(await this.api.getPatiently("/api/next", { annotator: this.who })); }

  async open(number, source) {
    this.#read(await this.api.getPatiently(`/api/text/${number}`, { annotator: this.who, source }));
    this.#emit("opened", number);
  }

  // The same text with what the model says of it now.
  async refresh(label = null) {
    const item = this.item;
    if (item?.kind !== "text") return;
    const chosen = label ?? item.tinted ?? null;  // a class that somebody looks at stays the one
    const again = await this.api.get(`/api/text/${item.text}`, { annotator: this.who, source: item.source, label: chosen });
    if (this.item !== item) return;  // gone on meanwhile
    this.item = { ...again, source: item.source, why: item.why, tinted: chosen };
    this.#emit("tint", this.item);
  }

  // Do something, and say that it is done once the desk has stored it. Returns whether it was.
  async act(kind, content, done) {
    return this.#store(kind, content, kind, done, () => { this.undone = []; });
  }

  undo() {
    if (!this.state?.undo) { announce("There is nothing to undo."); return false; }
    const { act, summary } = this.state.undo;
    return this.#store("undo", { act }, "undo", `Undone: ${summary}`, (answer) => this.undone.push({ id: answer.act.id, summary }));
  }

  redo() {
    const last = this.undone.at(-1);
    if (last === undefined) { announce("There is nothing to do again."); return false; }
    return this.#store("undo", { act: last.id }, "redo", `Done again: ${last.summary}`, () => this.undone.pop());
  }

  // what: the kind of the act; kind: what it is to the reader, who also does things again.
  async #store(what, content, kind, done, then) {
    if (this.saving && ONE_AT_A_TIME.has(kind)) return false;
    const own = { kind, content };
    if (ONE_AT_A_TIME.has(kind)) this.saving = own;
    this.#emit("saving", own);
    const free = () => { if (this.saving === own) this.saving = null; };
    try {
      const answer = await this.api.post({ id: newId(), annotator: this.who, kind: what, content });
      then(answer);
      this.#apply(answer.state);
      if (answer.next) this.#read(answer.next);
      free();
      this.#emit("saved", kind);
      if (done) this.#emit("done", done);
      if (!answer.next) await this.refresh().catch(() => {});  // trouble with it is shown already
      return true;
    } catch (error) {
      free();
      this.#emit("saved", kind);
      if (!(error instanceof RefusedError)) throw error;
      this.#emit("refused", error.message);
      return false;
    }
  }
}
