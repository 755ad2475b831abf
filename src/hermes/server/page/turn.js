// One question and its answer.

import { count, host, make } from "./dom.js";
import { forget, render } from "./markdown.js";
import { saidBefore } from "./quote.js";
import { Timeline } from "./timeline.js";

const UNKNOWN = "no source has this number";

/**
 * A turn as an article. `open` is called with a citation whose source somebody wants to read, what they
 * opened it from and what is said there, `say` with what happens in a few words, and `grown` with the part
 * that has become longer.
 */
export class Turn {
  constructor(question, { open, say = () => {}, grown = () => {} }) {
    this.open = open;
    this.say = say;
    this.grown = grown;
    this.timeline = new Timeline();
    this.answer = make("div", { class: "answer prose", "aria-live": "polite" });
    this.sources = make("section", { class: "sources", hidden: true, "aria-label": "sources" });
    this.problem = make("div", { class: "problem", role: "alert", hidden: true });
    this.served = make("p", { class: "note served", hidden: true });
    this.element = make(
      "article",
      { class: "turn" },
      make("h2", { class: "question" }, question),
      this.timeline.element,
      this.answer,
      this.problem,
      this.sources,
      this.served,
    );
    this.text = "";
    this.citations = [];
    this.model = "";
    this.isDrawing = false;
  }

  /** The answer is on its way. */
  begin() {
    this.element.dataset.state = "running";
    this.answer.setAttribute("aria-busy", "true");
    this.timeline.element.open = true;
  }

  /** Take an event of the run. */
  add(event) {
    if (event.type === "started") this.#who(`${event.provider}/${event.model}`);
    if (event.type === "switched") this.#who(event.to_model);
    if (event.type === "text") this.#hear(event.delta);
    if (event.type === "tool_started") this.#setAside();
    const said = event.type === "text" ? undefined : this.timeline.add(event);
    if (said) this.say(said);
    if (event.type !== "text") this.grown(this.element, this.timeline.rows);
    if (event.type === "done") this.#finish(event.answer);
    if (event.type === "failed") this.fail(event.error, event.partial);
  }

  /** The turn as it was stored. */
  restore({ answer, citations, events, model }) {
    this.#who(model);
    for (const event of events) {
      if (event.type === "switched") this.#who(event.to_model);
      if (event.type === "failed") this.#explain(event.error);
      else if (event.type === "text") this.timeline.aside(event.delta);
      else this.timeline.add(event);
    }
    this.#settle(answer, citations);
  }

  /** The run ended without an answer, or in the middle of one. */
  fail(error, partial = null) {
    this.#explain(error);
    this.#settle(partial?.text || this.text, partial?.citations ?? []);
    this.say(error.type === "Interrupted" ? "stopped" : "the question was not answered");
  }

  /** Who answers from here on. */
  #who(model) {
    this.model = this.timeline.who = model;
  }

  #finish(answer) {
    this.#who(`${answer.provider}/${answer.model}`);
    this.#settle(answer.text, answer.citations);
    if (!answer.complete) this.#tell("notice", "This answer is not complete.");
    this.say(`answered, with ${count(answer.citations.length, "source", "sources")}`);
  }

  #hear(delta) {
    this.text += delta;
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      if (this.element.dataset.state !== "running") return;
      render(this.text, this.answer, (n) => this.#pending(n));
      this.grown(this.answer, this.answer);
    });
  }

  /** What was said before a tool is called is no part of the answer. */
  #setAside() {
    if (this.text.trim()) this.timeline.aside(this.text.trim());
    this.text = "";
    render("", this.answer);
  }

  #settle(text, citations) {
    this.element.dataset.state = "over";
    this.timeline.end();
    this.text = text;
    this.citations = citations;
    forget(this.answer);
    render(text, this.answer, (n) => this.#chip(n));
    this.answer.removeAttribute("aria-busy");
    this.#list();
    const by = [...this.timeline.backends].join(" and ");
    this.served.textContent = `Answered by ${this.model}${by && `, with ${by}`}`;
    this.served.hidden = !this.model || !text;
    this.grown(this.answer, this.answer);
  }

  #explain(error) {
    if (error.type === "Interrupted") this.#tell("notice", "Stopped. What was said until then is kept.");
    else this.#tell("error", sentence(error.message), error.hint && sentence(error.hint));
  }

  #tell(kind, ...lines) {
    this.problem.dataset.kind = kind;
    render(lines.filter(Boolean).join("\n\n"), this.problem);
    this.problem.hidden = false;
  }

  #pending(n) {
    return make("span", { class: "chip" }, String(n));
  }

  #chip(n) {
    const cited = this.citations.find((one) => one.n === n);
    if (!cited) return null;
    if (!cited.url) return make("span", { class: "chip", "data-doubt": true, title: UNKNOWN }, String(n));
    const doubt = cited.verified ? "" : ", not verified";
    return make(
      "button",
      {
        type: "button",
        class: "chip",
        "data-doubt": !cited.verified,
        "aria-label": `source ${n}: ${cited.title || cited.url}${doubt}`,
        title: `${cited.title || cited.url}${doubt}`,
        onclick: ({ currentTarget }) => this.open(cited, currentTarget, saidBefore(currentTarget)),
      },
      String(n),
    );
  }

  #list() {
    const cited = this.citations.filter((one) => one.url);
    this.sources.hidden = cited.length === 0;
    const items = cited.map((one) => make("li", {}, this.#entry(one)));
    this.sources.replaceChildren(make("h3", {}, "Sources"), make("ul", {}, ...items));
  }

  #entry(cited) {
    return make(
      "button",
      { type: "button", class: "source", onclick: (click) => this.open(cited, click.currentTarget) },
      make("span", { class: "number" }, String(cited.n)),
      make("span", { class: "title" }, cited.title || cited.url),
      make("span", { class: "host" }, host(cited.url)),
      make("span", { class: "verdict" }, cited.verified ? "verified" : "not verified"),
    );
  }
}

function sentence(text) {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}
