// The list of past sessions, and the search in them.

import * as api from "./api.js";
import { byId, count, make, oneLine, when } from "./dom.js";

const PAUSE = 200;

/** The sessions beside the conversation. `go` is called with the id of one that is chosen. */
export class Sessions {
  constructor(go) {
    this.go = go;
    this.current = null;
    this.asked = 0;
    byId("words").oninput = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), PAUSE);
    };
    byId("search").onsubmit = (submit) => {
      submit.preventDefault();
      this.load();
    };
  }

  /** Load what the search field asks for: the sessions used last, or those that hold its words. */
  async load() {
    const words = byId("words").value.trim();
    const mine = (this.asked += 1);
    const { sessions } = await api.sessions(words);
    if (mine !== this.asked) return;
    byId("sessions").replaceChildren(...sessions.map((one) => this.#item(one)));
    const counted = count(sessions.length, "session found", "sessions found");
    const none = sessions.length ? "" : "No sessions yet";
    byId("found").textContent = words ? counted : none;
    this.mark(this.current);
  }

  /** Show which session is open. */
  mark(id) {
    this.current = id;
    for (const link of byId("sessions").querySelectorAll("a")) {
      if (link.dataset.id === id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  #item(session) {
    const follow = (click) => {
      if (click.ctrlKey || click.metaKey || click.shiftKey) return;
      click.preventDefault();
      this.go(session.id);
    };
    const link = make(
      "a",
      { href: `?session=${encodeURIComponent(session.id)}`, "data-id": session.id, onclick: follow },
      make("span", { class: "title" }, oneLine(session.title) || "Untitled"),
      make("span", { class: "note" }, when(session.updated) + (STATES[session.status] ?? "")),
      session.snippet ? make("span", { class: "snippet" }, oneLine(session.snippet, 160)) : null,
    );
    return make("li", {}, link);
  }
}

const STATES = { open: " · not finished", interrupted: " · stopped", failed: " · failed" };
