// The switch of reading mode: who agreed, on which text it is, and where what was read goes.
import { newId } from "./api.js";
import { $, announce, make } from "./dom.js";
import { CONSENT, HINT, startReading, stop } from "./reading.js";

export class ReadingMode {
  constructor(desk, text) {
    this.desk = desk;
    this.text = text;
    this.on = false;
    $("consent-words").textContent = CONSENT;
    $("reading-button").addEventListener("click", () => this.toggle());
    $("consent-withdraw").addEventListener("click", () => this.#consent(false));
    $("consent").addEventListener("close", async () => {
      const answer = $("consent").returnValue;
      if (answer === "yes" && !(await this.#consent(true))) return;
      if (answer === "yes" || answer === "no") this.#switch(true);
    });
    desk.on("leave", ({ done }) => stop({ send: done }));
    desk.on("item", () => this.#begin());
    desk.on("state", ({ consent }) => {
      if (this.on && this.consent !== consent) this.#begin();  // agreed, or taken back: from here on
    });
  }

  toggle() {
    if (this.on) this.#switch(false);
    else if (this.desk.state?.consent) this.#switch(true);
    else {
      $("consent").returnValue = "";
      $("consent").showModal();
    }
  }

  #consent(reading) {
    return this.desk.act("consent", { reading }, reading ? "You agreed that how you read is stored" : "How you read is not stored any more, and what was stored is deleted");
  }

  #switch(on) {
    this.on = on;
    $("reading-button").setAttribute("aria-pressed", String(on));
    announce(on ? HINT : "Reading mode is off.");
    if (on) {
      this.#begin();
      $("text").focus({ preventScroll: true });  // Enter and space mean the text now, not the button that was clicked
    } else {
      stop({ send: false });
      $("reading-hint").replaceChildren();
    }
  }

  async #begin() {
    $("reading-hint").replaceChildren();
    const { item, state } = this.desk;
    if (!this.on || item?.kind !== "text") return;
    this.consent = state.consent;
    const { words } = await this.desk.api.getPatiently(`/api/words/${item.text}`);
    if (!this.on || this.desk.item?.text !== item.text) return;  // gone on meanwhile
    const onReading = (reading) => this.desk.api.post("/api/reading", { id: newId(), annotator: this.desk.who, content: { text: item.text, ...reading } })
      .catch((error) => this.desk.dispatchEvent(new CustomEvent("refused", { detail: error.message })));
    const begun = this.text.isWhole && startReading(this.text.container, { words, consent: this.consent, onReading });
    $("reading-hint").replaceChildren(make("p", { class: "soft" }, begun ? HINT : "This text is too long for reading mode."));
  }
}
