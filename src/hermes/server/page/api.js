// The server's side of the page.

/** What went wrong, in words for a person. `status` is 0 where the server does not answer. */
export class Refused extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

async function call(method, path, body) {
  const given = { method, headers: { accept: "application/json" } };
  if (body !== undefined) {
    given.headers["content-type"] = "application/json";
    given.body = JSON.stringify(body);
  }
  let reply;
  try {
    reply = await fetch(path, given);
  } catch {
    throw new Refused(0, "the server does not answer", "see whether `hermes serve` is running");
  }
  const said = await reply.json().catch(() => ({}));
  if (reply.ok) return said;
  const error = said.error ?? {};
  const words = error.message ?? `the server answered with status ${reply.status}`;
  throw new Refused(reply.status, words, error.hint);
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();

export const signIn = (token) => call("POST", "api/sign-in", { token });
export const status = () => call("GET", "api/status");
export const sessions = (words) => call("GET", `api/sessions?${query({ q: words })}`);
export const session = (id) => call("GET", `api/sessions/${encodeURIComponent(id)}`);
export const page = (url, sessionId) => call("GET", `api/page?${query({ url, session_id: sessionId })}`);
export const start = (question, sessionId) => call("POST", "api/runs", { question, session_id: sessionId });
export const stop = (runId) => call("DELETE", `api/runs/${encodeURIComponent(runId)}`);

/**
 * Follow a run. `told` gets each event, `connected` whether the server is there; `over` is called once
 * nothing more comes, with true where the run itself said so. Gives what ends it.
 */
export function follow(runId, { told, connected, over }) {
  const stream = new EventSource(`api/runs/${encodeURIComponent(runId)}/events`);
  stream.onopen = () => connected(true);
  stream.onmessage = (message) => {
    const event = JSON.parse(message.data);
    told(event);
    if (event.type === "done" || event.type === "failed") {
      stream.close();
      over(true);
    }
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) over(false);
    else connected(false);
  };
  return () => stream.close();
}
