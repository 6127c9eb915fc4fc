// Acts that the desk has not said to be stored, in the browser's memory under the project that they are of: a page that is loaded again, or opened
// after the desk was started again, sends them. The same id is the same act, so that two pages may both do so.
const NAME = "textmargin-desk-act";

export class Outbox {
  constructor(project) { this.start = `${NAME}:${project}:`; }

  put(body) {
    const time = performance.timeOrigin + performance.now();
    try {
      localStorage.setItem(this.start + body.id, JSON.stringify({ body, time }));
    } catch { /* no room: the act is in the memory of the page all the same */ }
  }

  drop(id) { localStorage.removeItem(this.start + id); }
  has(id) { return localStorage.getItem(this.start + id) !== null; }

  // Oldest first.
  left() {
    const found = [];
    for (const name of Object.keys(localStorage).filter((one) => one.startsWith(this.start))) {
      try { found.push(JSON.parse(localStorage.getItem(name))); } catch { localStorage.removeItem(name); /* nothing that was ours */ }
    }
    return found.filter((one) => one?.body?.id).sort((a, b) => a.time - b.time).map((one) => one.body);
  }
}
