// The page: what a person does, and where it leads.

import * as api from "./api.js";
import { uncover } from "./cover.js";
import { byId, make } from "./dom.js";
import { reaching, signIn, takeToken, trouble } from "./door.js";
import { Sessions } from "./sessions.js";
import { closeSource, openSource } from "./source.js";
import { Turn } from "./turn.js";

const MARGIN = 16;

const state = { sessionId: null, runId: null, leave: () => {}, loads: 0, follows: false };
const sessions = new Sessions((id) => go(id));
const say = (words) => (byId("say").textContent = words);
const named = () => new URLSearchParams(location.search).get("session");

function go(id) {
  closeMenu();
  history.pushState(null, "", id ? `?session=${encodeURIComponent(id)}` : "./");
  return load();
}

/** Show what the address names: a session, or the place to ask a first question. */
async function load() {
  const mine = (state.loads += 1);
  leaveRun();
  closeSource();
  const id = named();
  state.sessionId = id;
  sessions.mark(id);
  if (!id) {
    document.title = "Hermes";
    byId("conversation").replaceChildren(welcome());
    byId("question").focus();
    return;
  }
  try {
    const found = await reaching(() => api.session(id));
    if (mine === state.loads) show(found);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (mine === state.loads) byId("conversation").replaceChildren(lost(error));
  }
}

function welcome() {
  return make(
    "section",
    { class: "welcome" },
    make("h1", {}, "What do you want to know?"),
    make("p", { class: "note" }, "Answers cite what they were read from. Open a number to see its source."),
  );
}

function lost(error) {
  return make(
    "section",
    { class: "welcome" },
    make("h1", {}, "This session cannot be shown"),
    make("p", { class: "note" }, `${error.message}.`),
  );
}

function show({ session, turns, run }) {
  document.title = `${session.title || "Untitled"} – Hermes`;
  state.sessionId = session.id;
  sessions.mark(session.id);
  const made = turns.map((past) => {
    const turn = new Turn(past.question, { open });
    turn.restore({ ...past, model: `${session.provider}/${session.model}` });
    return turn.element;
  });
  byId("conversation").replaceChildren(make("h1", { class: "unseen" }, session.title || "Untitled"), ...made);
  if (run) watch(run.id, begin(run.question));
  else byId("conversation").lastElementChild?.scrollIntoView({ block: "start" });
}

const open = (cited, from, said) => openSource(cited, state.sessionId, from, said);

/** A new turn at the end of the conversation. */
function begin(question) {
  if (!state.sessionId) byId("conversation").replaceChildren(make("h1", { class: "unseen" }, question));
  const turn = new Turn(question, { open, say, grown: keepInView });
  turn.begin();
  byId("conversation").append(turn.element);
  turn.element.scrollIntoView({ block: "start" });
  state.follows = true;
  return turn;
}

/** Scroll down with what grows, until its top is at the top; not where somebody scrolled by themselves. */
function keepInView(whole, growing) {
  if (!state.follows) return;
  const view = byId("conversation").getBoundingClientRect();
  const below = growing.getBoundingClientRect().bottom - view.bottom + MARGIN;
  const above = whole.getBoundingClientRect().top - view.top - MARGIN;
  byId("conversation").scrollTop += Math.max(0, Math.min(below, above));
}

async function ask(question) {
  const turn = begin(question);
  busy(true);
  try {
    const { run_id: runId, session_id: sessionId } = await api.start(question, state.sessionId);
    if (sessionId !== state.sessionId) {
      state.sessionId = sessions.current = sessionId;
      history.pushState(null, "", `?session=${encodeURIComponent(sessionId)}`);
      document.title = `${question} – Hermes`;
    }
    watch(runId, turn);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    busy(false);
    turn.fail({ type: "Refused", message: error.message, hint: error.hint });
    byId("question").value = question;
    grow();
    if (error.status === 401) await signIn();
    return;
  }
  await reaching(() => sessions.load());
}

/** Follow a run to its end, in a turn. */
function watch(runId, turn) {
  busy(true);
  state.runId = runId;
  state.leave = api.follow(runId, {
    told: (event) => turn.add(event),
    connected: (is) => trouble(is ? "" : "The server does not answer. Trying again …"),
    over: async (isTold) => {
      leaveRun();
      trouble("");
      if (!isTold) await load();
      await reaching(() => sessions.load());
    },
  });
}

function leaveRun() {
  state.leave();
  state.leave = () => {};
  state.runId = null;
  busy(false);
}

function busy(is) {
  byId("send").hidden = is;
  byId("stop").hidden = !is;
  byId("stop").disabled = false;
}

function send() {
  const question = byId("question").value.trim();
  if (!question || !byId("stop").hidden) return;
  byId("question").value = "";
  grow();
  ask(question);
}

/** The field is as high as its text. */
function grow() {
  const field = byId("question");
  field.rows = Math.min(8, Math.max(1, field.value.split("\n").length));
}

function closeMenu() {
  delete document.body.dataset.menu;
  byId("menu").setAttribute("aria-expanded", "false");
  uncover();
}

for (const moved of ["wheel", "touchmove", "keydown"]) {
  byId("conversation").addEventListener(moved, () => (state.follows = false), { passive: true });
}
byId("ask").onsubmit = (submit) => {
  submit.preventDefault();
  send();
};
byId("question").oninput = grow;
byId("question").onkeydown = (key) => {
  if (key.key !== "Enter" || key.shiftKey || key.isComposing) return;
  key.preventDefault();
  send();
};
byId("stop").onclick = async () => {
  byId("stop").disabled = true;
  say("stopping");
  if (state.runId) await api.stop(state.runId).catch(() => (byId("stop").disabled = false));
  byId("question").focus();
};
byId("menu").onclick = () => {
  if (document.body.dataset.menu) {
    closeMenu();
    return;
  }
  document.body.dataset.menu = "open";
  byId("menu").setAttribute("aria-expanded", "true");
  uncover();
  byId("words").focus();
};
for (const id of ["new", "home"]) {
  byId(id).onclick = (click) => {
    if (click.ctrlKey || click.metaKey || click.shiftKey) return;
    click.preventDefault();
    go(null);
  };
}
byId("close").onclick = closeSource;
document.addEventListener("keydown", (key) => {
  if (key.key !== "Escape" || byId("sign-in").open) return;
  if (document.body.dataset.menu) {
    closeMenu();
    byId("menu").focus();
  } else {
    closeSource();
  }
});
addEventListener("popstate", load);

/** Say who would answer a question, and who would search for it. */
async function showServing() {
  let words;
  try {
    const { provider, model, backends } = await reaching(api.status);
    words = `${provider}/${model} · ${backends.join(" and ")}`;
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    words = error.message;
  }
  byId("serving").textContent = words;
}

await takeToken();
await showServing();
await Promise.all([load(), reaching(() => sessions.load())]);
