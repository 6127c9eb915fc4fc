// Requests to the desk. What is asked may be asked again; what is done is sent, one after the other and with the same id, until the desk has said
// that it is stored, or that it cannot be.
const TOKEN = "textmargin-desk-token", OUTBOX = "textmargin-desk-outbox";
const WAITS = [0.3, 0.7, 1.5, 3, 5];  // seconds

export class RefusedError extends Error {}  // the desk will not have it: asking again would not help
export class TokenError extends Error {}
class AwayError extends Error {}  // not reached, or not able just now

export const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// The token comes with the address, and leaves it at once: addresses are shown, shared and remembered.
function takeToken() {
  const address = new URL(location.href), given = address.searchParams.get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  return given ?? sessionStorage.getItem(TOKEN) ?? "";
}

export class Api {
  // onTrouble(null) when all is well, else onTrouble({message, waiting}): what is wrong, and how many acts are not stored yet.
  constructor(onTrouble) {
    this.token = takeToken();
    this.onTrouble = onTrouble;
    this.message = null;
    this.outbox = [];
    this.sending = false;
  }

  get waiting() { return this.outbox.length; }

  #tell(message) {
    this.message = message;
    this.onTrouble(message === null ? null : { message, waiting: this.waiting });
  }

  async #ask(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, { ...options, headers: { Authorization: `Bearer ${this.token}`, ...options.headers }, cache: "no-store" });
    } catch {
      throw new AwayError("The desk does not answer. Start it again with the same command and leave this page open: it goes on by itself.");
    }
    if (answer.ok) return answer;
    let detail = `The desk answered ${answer.status}.`;
    try { detail = (await answer.json()).detail ?? detail; } catch { /* not JSON: the number has to do */ }
    if (answer.status === 401) throw new TokenError("This page has no token, or an old one. Open the address that the desk printed when it started.");
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
      if (!this.waiting) this.#tell(null);
      return found;
    } catch (error) {
      if (!(error instanceof RefusedError)) this.#tell(error.message);
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
    return { name, blob: await answer.blob() };
  }

  // Store an act. The answer comes once it is on the disk; a refusal is thrown.
  post(path, body) {
    return new Promise((done, fail) => {
      this.outbox.push({ path, body, done, fail });
      this.#remember();
      this.#send();
    });
  }

  // What a page that was reloaded had not heard of is sent again: the same id is the same act.
  resume() {
    let left = [];
    try { left = JSON.parse(sessionStorage.getItem(OUTBOX) ?? "[]"); } catch { /* nothing that was ours */ }
    return Promise.allSettled(left.map(({ path, body }) => this.post(path, body)));
  }

  #remember() {
    try {
      sessionStorage.setItem(OUTBOX, JSON.stringify(this.outbox.map(({ path, body }) => ({ path, body }))));
    } catch { /* no room: the acts are in memory all the same */ }
  }

  async #send() {
    if (this.sending) return;
    this.sending = true;
    for (let attempt = 0; this.outbox.length; ) {
      const { path, body, done, fail } = this.outbox[0];
      let settle;
      try {
        const answer = await this.#ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
        const found = await answer.json();
        settle = () => done(found);
      } catch (error) {
        if (!(error instanceof RefusedError)) {
          this.#tell(error.message);
          await pause(WAITS[Math.min(attempt++, WAITS.length - 1)]);
          continue;
        }
        settle = () => fail(error);
      }
      attempt = 0;
      this.outbox.shift();
      this.#remember();
      if (this.message !== null) this.#tell(this.waiting ? this.message : null);
      settle();
    }
    this.sending = false;
  }
}
