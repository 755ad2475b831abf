// The panel that shows the stored text of a source, at the words that an answer quotes.

import * as api from "./api.js";
import { uncover } from "./cover.js";
import { byId, linkOut, make } from "./dom.js";
import { render } from "./markdown.js";
import { markQuote, markWords } from "./quote.js";

const FROM = {
  session: "This is the text as it was read for the answer.",
  index: "This is the text as it stands in your documents.",
  cache: "This is the text as it was fetched.",
  search: "The page itself was not read: these are the words that a search found.",
};

let opener = null;
let wanted = null;

/**
 * Show the source of a citation, at the first of the words `said` that it holds, else at the quote.
 * `from` gets the focus back when the panel is closed.
 */
export async function openSource(cited, sessionId, from, said = []) {
  opener = from;
  wanted = cited;
  byId("source").hidden = false;
  uncover();
  byId("source-title").textContent = cited.title || cited.url;
  byId("source-address").replaceChildren(linkOut(cited.url, cited.url));
  byId("source-note").textContent = "Loading …";
  byId("source-text").replaceChildren();
  byId("source-title").focus({ preventScroll: true });
  try {
    const page = await api.page(cited.url, sessionId);
    if (wanted === cited) show(page, cited, said);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (wanted === cited) byId("source-note").textContent = `The text is not here: ${error.message}.`;
  }
}

export function closeSource() {
  if (byId("source").hidden) return;
  byId("source").hidden = true;
  uncover();
  wanted = null;
  if (opener?.isConnected) opener.focus();
}

function show(page, cited, said) {
  const text = byId("source-text");
  const body = make("div");
  render(page.text, body);
  text.replaceChildren(body);
  const mark = markFirst(body, said) ?? markQuote(body, cited.quote);
  const notes = [FROM[page.from]];
  if (mark) notes.push("The quoted words are marked.");
  if (!cited.verified) notes.push("What the answer says of it is not verified.");
  else if (!mark) notes.push("The answer says it in words of its own.");
  byId("source-note").textContent = notes.join(" ");
  if (mark) mark.scrollIntoView({ block: "center" });
  else text.scrollTop = 0;
}

function markFirst(within, all) {
  for (const words of all) {
    const mark = markWords(within, words);
    if (mark) return mark;
  }
  return null;
}
