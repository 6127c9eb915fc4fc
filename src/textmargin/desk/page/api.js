// Requests to the desk. What is asked may be asked again; what is done is sent, one after the other and with the same id, until the desk has said
// that it is stored, or that it cannot be.
//
// The token is handed in once, for a key that is worth nothing when the desk ends; an answer without the desk's seal is somebody else's, who listens
// at its address now, and counts for nothing.
import { Outbox } from "./outbox.js";

const KEY = "textmargin-desk-key", SEAL = "X-Desk-Seal";
const WAITS = [0.3, 0.7, 1.5, 3, 5];  // seconds
const AGAIN = "start it again with the same command, and go on in the page that it opens.";

export class RefusedError extends Error {}  // the desk will not have it: asking again would not help
class EndedError extends Error {}  // this page can do nothing any more
class AwayError extends Error {}  // not reached, or not able just now

export const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

export class Api {
  // onTrouble(null) when all is well, else onTrouble({message, waiting, ended}): what is wrong, how many acts are not stored yet, and whether this
  // page can still send them.
  constructor(onTrouble) {
    this.onTrouble = onTrouble;
    this.message = null;
    this.queue = [];
    this.sending = false;
    this.ended = false;
    addEventListener("storage", () => this.#forget());
  }

  get waiting() { return this.queue.length; }

  // Whether an act would be lost with this page, or nobody would send it for a while.
  get atRisk() { return this.queue.some(({ body }) => !this.ended || !this.outbox.has(body.id)); }

  tell(message) {
    this.message = message;
    this.onTrouble(message === null ? null : { message, waiting: this.waiting, ended: this.ended });
  }

  // Hand the token in, or go on with the key of before. Then this.reader says who reads where the page does not, or null.
  async open() {
    if (this.outbox) return;
    const address = new URL(location.href), token = address.searchParams.get("token");
    let found;
    if (token) {
      const answer = await this.#fetch("/api/reader", {}, token);
      if (answer.status === 401) throw this.#end("This address is of an earlier start of the desk. Open the one that it printed last.");
      if (!answer.ok) throw new AwayError(`The desk answered ${answer.status}. Load this page again.`);
      found = await answer.json();
      sessionStorage.setItem(KEY, JSON.stringify({ key: found.key, seal: found.seal }));
      address.searchParams.delete("token");  // addresses are shown, shared and remembered
      history.replaceState(null, "", address);
    }
    const held = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (held === null) throw this.#end("This page has no token. Open the address that the desk printed when it started.");
    ({ key: this.key, seal: this.seal } = held);
    found ??= await this.getPatiently("/api/reader");
    this.reader = found.annotator;
    this.outbox = new Outbox(found.project);
  }

  async #fetch(path, options, key) {
    try {
      return await fetch(path, { ...options, headers: { Authorization: `Bearer ${key}`, ...options.headers }, cache: "no-store" });
    } catch {
      throw new AwayError(`The desk does not answer. If it was stopped, ${AGAIN}`);
    }
  }

  #end(message) {
    this.ended = true;
    return new EndedError(message);
  }

  async #ask(path, options = {}) {
    const answer = await this.#fetch(path, options, this.key);
    if (answer.status === 401) throw this.#end("The desk was started again. Go on in the page that it opened then, or open the address that it printed.");
    if (answer.headers.get(SEAL) !== this.seal) throw new AwayError(`Not the desk, but something else answers at this address. If the desk was stopped, ${AGAIN}`);
    if (answer.ok) return answer;
    let detail = `The desk answered ${answer.status}.`;
    try { detail = (await answer.json()).detail ?? detail; } catch { /* not JSON: the number has to do */ }
    if (answer.status >= 500 || answer.status === 408 || answer.status === 429) throw new AwayError(detail);
    throw new RefusedError(detail);
  }

  // Once, for what is asked again by itself.
  async get(path, parameters = {}) {
    const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
    const query = new URLSearchParams(given).toString();
    try {
      const answer = await this.#ask(query ? `${path}?${query}` : path);
      const found = await answer.json();
      if (!this.waiting) this.tell(null);
      return found;
    } catch (error) {
      if (!(error instanceof RefusedError)) this.tell(error.message);
      throw error;
    }
  }

  // Until the desk answers.
  async getPatiently(path, parameters) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.get(path, parameters);
      } catch (error) {
        if (!(error instanceof AwayError)) throw error;
        await pause(WAITS[Math.min(attempt, WAITS.length - 1)]);
      }
    }
  }

  async file(path) {
    const answer = await this.#ask(path);
    const name = /filename="([^"]*)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "export";
    return { name: decodeURIComponent(name), blob: await answer.blob() };
  }

  // Store an act. The answer comes once it is on the disk; a refusal is thrown.
  post(body) {
    return new Promise((done, fail) => {
      this.queue.push({ body, done, fail });
      this.outbox.put(body);
      this.#send();
    });
  }

  // Send what pages of before had not heard of. Returns how many acts were stored.
  async resume() {
    const ended = await Promise.allSettled(this.outbox.left().map((body) => this.post(body)));
    return ended.filter((one) => one.status === "fulfilled").length;
  }

  // Another page has sent what waited here.
  #forget() {
    if (!this.ended || !this.waiting) return;
    this.queue = this.queue.filter(({ body }) => this.outbox.has(body.id));
    this.tell(this.message);
  }

  async #send() {
    if (this.sending || this.ended) return;
    this.sending = true;
    for (let attempt = 0; this.queue.length && !this.ended; ) {
      const { body, done, fail } = this.queue[0];
      let settle;
      try {
        await this.#ask("/api/reader");  // that it is the desk, before it is told anything
        const answer = await this.#ask("/api/acts", { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
        const found = await answer.json();
        settle = () => done(found);
      } catch (error) {
        if (!(error instanceof RefusedError)) {
          this.tell(error.message);
          if (!this.ended) await pause(WAITS[Math.min(attempt++, WAITS.length - 1)]);
          continue;
        }
        settle = () => fail(error);
      }
      attempt = 0;
      this.queue.shift();
      this.outbox.drop(body.id);
      if (this.message !== null) this.tell(this.waiting ? this.message : null);
      settle();
    }
    this.sending = false;
  }
}
