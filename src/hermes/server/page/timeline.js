// How a run went, step by step: one row for each model call, tool call, wait, and whatever else is told.

import { count, duration, figure, make, money, oneLine, size } from "./dom.js";

const LONGEST_OUTPUT = 8000;
const BRIEF = 80;

/** What is said of an event: its name, its words, and a fact beside them. */
const WORDS = {
  retry_waiting: (event) => [
    "wait",
    `${event.reason}, so try ${event.attempt + 1} comes later`,
    duration(event.seconds),
  ],
  switched: (event) => [
    "switched",
    `${event.to_model} answers instead of ${event.from_model}: ${event.reason}`,
  ],
  compacted: (event) => [
    "shortened",
    `the conversation, from ${figure(event.tokens_before)} tokens to about ${figure(event.tokens_after)}`,
  ],
  notice: (event) => ["note", event.hint ? `${event.message} (${event.hint})` : event.message],
  gap: () => ["note", "the beginning of this run is no longer kept"],
};

/** The rows of one run. They are made of its events, live or stored. */
export class Timeline {
  constructor() {
    this.rows = make("ol", { class: "rows" });
    this.summary = make("summary", {}, "Steps");
    this.element = make("details", { class: "steps", hidden: true }, this.summary, this.rows);
    this.who = "";
    this.tools = new Map();
    this.model = null;
    this.thinking = null;
    this.totals = { models: 0, tools: 0, tokens: 0, cached: 0, cost: null };
    this.used = { total_tokens: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 };
    this.spent = 0;
    this.first = null;
    this.last = null;
    this.backends = new Set();
  }

  /** Take an event; gives what to say of it to who cannot see the rows, or nothing. */
  add(event) {
    const said = this.#take(event);
    if (event.at) {
      this.first ??= event.at;
      this.last = event.at;
    }
    this.#sum();
    return said;
  }

  /** What the model said before it called a tool: no part of the answer. */
  aside(text) {
    this.#row("said", "said", oneLine(text, 90), text);
  }

  /** Nothing more comes: what has not ended is not waited for. */
  end() {
    for (const row of this.rows.querySelectorAll("[data-state=running]")) row.dataset.state = "stopped";
  }

  #take(event) {
    switch (event.type) {
      case "model_started":
        return this.#modelStarted(event);
      case "model_finished":
        return this.#modelFinished(event);
      case "used":
        return this.#counted(event);
      case "reasoning":
        return this.#thought(event);
      case "tool_started":
        return this.#toolStarted(event);
      case "tool_progress":
        return this.#toolProgress(event);
      case "tool_finished":
        return this.#toolFinished(event);
      default:
        return this.#happened(event);
    }
  }

  #modelStarted(event) {
    for (const one of event.middleware ?? []) {
      this.#row("middleware", "middleware", `${one.plugin} · ${one.callback}`, null, middlewareFact(one));
    }
    const again = event.attempt > 1 ? `, try ${event.attempt}` : "";
    this.model = this.#row("model", "model", `${event.provider}/${event.model}${again}`);
    this.model.facts = { id: event.id, attempt: event.attempt };
    this.model.state("running");
    this.totals.models += 1;
    return "the model is asked";
  }

  #modelFinished(event) {
    const row = this.model ?? this.#row("model", "model", this.who);
    row.state(event.error ? "failed" : "done");
    row.facts = { ...row.facts, seconds: event.seconds, usage: event.usage, cost: event.cost };
    row.tell(modelFacts(row.facts));
    if (event.error) row.explain(event.error);
    this.thinking = null;
  }

  /** The tokens so far. Where nobody told of the call itself, this is what is known of it. */
  #counted(event) {
    const usage = difference(event.usage, this.used);
    const cost = event.cost === null || event.cost === undefined ? null : event.cost - this.spent;
    let row = this.model;
    if (!row || row.isCounted) {
      row = this.#row("model", "model", this.who);
      if (this.last && event.at) row.facts = { seconds: event.at - this.last };
      this.totals.models += 1;
    }
    row.isCounted = true;
    row.facts = { ...row.facts, usage: row.facts?.usage ?? usage, cost: cost ?? row.facts?.cost };
    row.tell(modelFacts(row.facts));
    this.used = event.usage;
    this.spent = event.cost ?? this.spent;
    const { total_tokens: tokens, cached_tokens: cached } = event.usage;
    this.totals = { ...this.totals, tokens, cached, cost: event.cost ?? null };
  }

  #thought(event) {
    this.thinking ??= this.#row("thinking", "thinking", "", "");
    this.thinking.append(event.delta);
  }

  #toolStarted(event) {
    const row = this.#row("tool", event.name, argumentWords(event.arguments), formatted(event.arguments));
    row.state("running");
    this.tools.set(event.id, row);
    this.totals.tools += 1;
    this.thinking = null;
    return `${event.name} began`;
  }

  #toolProgress(event) {
    this.tools.get(event.id)?.remark(event.text);
  }

  #toolFinished(event) {
    const row = this.tools.get(event.id) ?? this.#row("tool", event.name, "", "");
    row.state(event.is_error ? "failed" : "done");
    const characters = event.characters ?? event.result?.length ?? 0;
    const outcome = event.is_error ? "failed" : size(characters);
    row.tell([event.served_by && `by ${event.served_by}`, outcome, duration(event.seconds)]);
    if (event.served_by) this.backends.add(event.served_by);
    if (event.result) row.result(event.result, characters);
    return `${event.name} ${event.is_error ? "failed" : "ended"}`;
  }

  #happened(event) {
    const words = WORDS[event.type]?.(event);
    if (!words) return undefined;
    const [name, text, fact] = words;
    this.#row(event.type, name, text, null, fact);
    return `${name}: ${text}`;
  }

  #row(kind, name, text, detail = null, fact = "") {
    const row = new Row(kind, name, text, detail);
    if (fact) row.tell([fact]);
    this.rows.append(row.element);
    this.element.hidden = false;
    return row;
  }

  #sum() {
    const { models, tools, tokens, cached, cost } = this.totals;
    const parts = [
      models && count(models, "model call", "model calls"),
      tools && count(tools, "tool call", "tool calls"),
      tokens && count(tokens, "token", "tokens") + (cached ? ` (${figure(cached)} from cache)` : ""),
      cost !== null && money(cost),
      this.last > this.first && duration(this.last - this.first),
    ];
    this.summary.textContent = parts.filter(Boolean).join(" · ") || "Steps";
  }
}

/** One step: its kind, what it is about, how it ended; with more to open where there is more. */
class Row {
  constructor(kind, name, text, detail) {
    this.words = make("span", { class: "about" }, text);
    this.badge = make("span", { class: "badge" });
    this.remarks = "";
    this.ending = make("span", { class: "facts" });
    const line = [make("span", { class: "name" }, name), this.words, this.badge, this.ending];
    this.element = make("li", { "data-kind": kind, "data-state": "done" });
    if (detail === null) {
      this.element.append(make("div", { class: "row" }, ...line));
      return;
    }
    this.detail = make("pre", { tabindex: "0" }, detail);
    this.more = make("div", { class: "more" }, this.detail);
    this.element.append(make("details", {}, make("summary", { class: "row" }, ...line), this.more));
  }

  state(word) {
    this.element.dataset.state = word;
  }

  tell(facts) {
    this.ending.textContent = facts.filter(Boolean).join(" · ");
  }

  /** What a tool says meanwhile: a few words stand beside it, and more of them in the detail. */
  remark(text) {
    this.remarks += text;
    const isBrief = this.remarks.length <= BRIEF && !this.remarks.trim().includes("\n");
    this.badge.textContent = isBrief ? this.remarks.trim() : "";
    if (!isBrief) this.append(this.detail.dataset.live ? text : `\n\n${this.remarks}`);
    if (!isBrief) this.detail.dataset.live = "yes";
  }

  explain(text) {
    this.words.textContent = `${this.words.textContent}: ${text}`;
  }

  append(text) {
    if (!this.detail) return;
    const all = this.detail.textContent + text;
    this.detail.textContent = all.length > LONGEST_OUTPUT ? `…${all.slice(-LONGEST_OUTPUT)}` : all;
    if (this.element.dataset.kind === "thinking") this.words.textContent = oneLine(all.slice(-200), 90);
  }

  result(text, characters) {
    const rest = characters - text.length;
    const shown = rest > 0 ? `${text}\n… ${figure(rest)} more characters` : text;
    const result = make("pre", { tabindex: "0" }, formatted(shown));
    this.more?.append(make("p", { class: "note" }, "Result"), result);
  }
}

function modelFacts({ seconds, usage, cost }) {
  return [
    usage && `${figure(usage.prompt_tokens)} in`,
    usage && `${figure(usage.completion_tokens)} out`,
    usage?.cached_tokens && `${figure(usage.cached_tokens)} from cache`,
    cost !== null && cost !== undefined && money(cost),
    seconds !== undefined && duration(seconds),
  ];
}

function middlewareFact({ kind, paths }) {
  if (kind !== "llm_request") return "wraps the call";
  return paths.length ? `changed ${paths.join(", ")}` : "changed nothing";
}

function difference(after, before) {
  return Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - (before[key] ?? 0)]));
}

/** What a call was given, as a person reads it. */
function argumentWords(text) {
  try {
    return oneLine(flat(JSON.parse(text)).join(" "), 110);
  } catch {
    return oneLine(text, 110);
  }
}

function flat(value) {
  if (value && typeof value === "object") return Object.values(value).flatMap(flat);
  return typeof value === "string" ? [value] : [];
}

function formatted(text) {
  const fence = /^<untrusted ([0-9a-f]+)>\n([^]*)\n<\/untrusted \1>/.exec(text);
  const inner = fence ? fence[2] : text;
  try {
    return JSON.stringify(JSON.parse(inner), null, 2);
  } catch {
    return inner;
  }
}
