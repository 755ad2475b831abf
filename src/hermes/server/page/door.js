// The way to the server: who is let in, and what to do while it is away.

import * as api from "./api.js";
import { byId } from "./dom.js";

const AGAIN = 2000;

/** Say above the conversation what is wrong; nothing, when all is well. */
export function trouble(words) {
  byId("trouble").hidden = !words;
  byId("trouble").textContent = words;
}

/** Do something that needs the server: sign in where it asks for it, and try again where it is away. */
export async function reaching(work) {
  for (;;) {
    try {
      const outcome = await work();
      trouble("");
      return outcome;
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (error.status === 401) {
        await signIn();
      } else if (error.status === 0) {
        trouble("The server does not answer. Trying again …");
        await new Promise((done) => setTimeout(done, AGAIN));
      } else {
        throw error;
      }
    }
  }
}

/** Ask for the token until the server takes it. */
export function signIn() {
  const dialog = byId("sign-in");
  if (dialog.open) return new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  dialog.oncancel = (cancel) => cancel.preventDefault();
  dialog.showModal();
  return new Promise((done) => {
    dialog.querySelector("form").onsubmit = async (submit) => {
      submit.preventDefault();
      try {
        await api.signIn(byId("token").value.trim());
      } catch (error) {
        if (!(error instanceof api.Refused)) throw error;
        const isWrong = error.status === 401;
        byId("refused").textContent = isWrong ? "This is not the token of this server." : `${error.message}.`;
        return;
      }
      byId("token").value = "";
      byId("refused").textContent = "";
      dialog.close();
      done();
    };
  });
}

/** The token that the address carries is exchanged once, and not left standing in the address. */
export async function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await api.signIn(given);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
  }
}
