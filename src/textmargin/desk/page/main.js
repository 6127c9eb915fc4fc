// The reading desk: joins the parts, and follows what others do.
import { Api } from "./api.js";
import { Card } from "./card.js";
import { Costs } from "./costs.js";
import { DeskPage } from "./desk.js";
import { $, announce, count, plural } from "./dom.js";
import { keys } from "./keys.js";
import { WordMenu } from "./menu.js";
import { People } from "./project.js";
import { Quality } from "./quality.js";
import { Review } from "./review.js";
import { Search } from "./search.js";
import { Classes, tabs } from "./side.js";
import { TextView } from "./text.js";

const POLL = 3000, POLL_BUSY = 800;  // milliseconds

function trouble(what) {
  $("trouble").hidden = what === null;
  if (what === null) return;
  $("trouble-what").textContent = what.waiting ? "Not saved yet." : "Not in touch with the desk.";
  $("trouble-message").textContent = what.message + whatWaits(what);
}

function whatWaits({ waiting: n, ended }) {
  const them = n === 1 ? "it" : "them";
  if (!n) return "";
  return ended ? ` ${plural(n, "act waits", "acts wait")} in this browser: the next page sends ${them}.` : ` ${plural(n, "act is", "acts are")} sent again until the desk has stored ${them}.`;
}

let vanish;
function notice(message, kind = "done") {
  const box = $("notice");
  box.textContent = message;
  box.className = kind;
  box.hidden = false;
  clearTimeout(vanish);
  vanish = setTimeout(() => { box.hidden = true; }, kind === "refused" ? 10_000 : 2500);
}

const api = new Api(trouble);
const desk = new DeskPage(api);
const text = new TextView($("text"), (passage) => menu.open({ passage }));
const menu = new WordMenu(desk, text);
const card = new Card(desk, text);
const search = new Search(desk);
const showTab = tabs(() => {});
new Classes(desk, menu);
new Costs(desk);
new Quality(desk);
new Review(desk);
new People(desk, (message) => notice(message, "refused"));
keys({ desk, card, search, menu });

desk.on("refused", (message) => { notice(message, "refused"); announce(`Not done: ${message}`); });
desk.on("done", (message) => { notice(message); announce(message); });
desk.on("state", ({ project, annotator, undo, busy, fresh }) => {
  document.title = `${project.name}: reading desk`;
  $("project").textContent = project.name;
  $("progress").max = project.n_texts;
  $("progress").value = project.n_labelled;
  $("progress-words").textContent = `${count(project.n_labelled)} of ${count(project.n_texts)} labelled`;
  $("person-name").textContent = annotator;
  $("undo").disabled = !undo;
  $("undo").title = undo ? `Takes back: ${undo.summary}` : "There is nothing to undo";
  $("busy").textContent = busy ?? (fresh ? "" : "Counting all texts again…");
});

for (const [id, run] of Object.entries({
  undo: () => desk.undo(), "search-button": () => search.open(), "keys-button": () => $("keys").showModal(), similar: () => search.openSimilar(),
  skip: () => card.skip(), confirm: () => card.confirm(), yes: () => card.judge(1), no: () => card.judge(0), against: () => card.judge(-1), pass: () => card.judge(null),
  "person-button": () => askName(), "end-exports": () => showTab("tab-project"),
})) $(id).addEventListener("click", run);
for (const dialog of document.querySelectorAll("dialog")) {
  const needed = () => dialog === $("person") && !desk.state;  // nothing can be read before somebody has a name
  dialog.addEventListener("click", (event) => { if (event.target === dialog && !needed()) dialog.close(); });  // beside it
  dialog.addEventListener("cancel", (event) => { if (needed()) event.preventDefault(); });
  dialog.addEventListener("close", () => { if (needed()) askName(); });  // some browsers close at the second Esc, whatever one says
  for (const one of dialog.querySelectorAll("[data-close]")) one.addEventListener("click", () => dialog.close());
}

function askName() {
  $("name").value = desk.lastName;
  $("person").showModal();
  $("name").select();
}
$("person-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = $("name").value.trim();
  if (!name) { $("name").focus(); return; }
  if (name !== desk.who) {
    desk.rename(name);
    desk.state = null;
    await begin();
  }
  if (!desk.state) return;
  $("person").close();
  $("text").focus({ preventScroll: true });
});

let away = null;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) away = performance.now();
  else if (away !== null) {
    desk.lookedAway(performance.now() - away);
    follow();
  }
});
addEventListener("beforeunload", (event) => { if (api.atRisk) event.preventDefault(); });

let timer;
async function follow() {
  clearTimeout(timer);
  if (api.ended) return;
  if (!document.hidden && desk.state) await desk.poll().catch(() => {});  // what is wrong is shown already
  timer = setTimeout(follow, desk.state && (desk.state.busy || !desk.state.fresh) ? POLL_BUSY : POLL);
}

async function begin() {
  try {
    await api.open();
    const n = await api.resume();
    if (n) notice(`Saved from before: ${plural(n, "act")}`);
    if (!desk.knowsReader) { askName(); return; }
    await desk.start();
    document.body.classList.add("ready");
    follow();
  } catch (error) {
    api.tell(error.message);
  }
}
begin();
