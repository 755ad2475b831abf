// Finding the words of a quote in a rendered text, across its nodes and marks.

import { make } from "./dom.js";

const SHORTEST = 12;

/** Mark a quote in an element. Gives the first mark, or null where the words do not stand there. */
export function markQuote(within, quote) {
  const letters = lettersOf(within);
  const wanted = reduced(quote);
  if (!wanted) return null;
  let found = letters.text.indexOf(wanted);
  if (found >= 0) return wrap(letters, found, found + wanted.length);
  let first = null;
  for (const sentence of quote.split(/(?<=[.!?;:])\s+|\n+/).map(reduced)) {
    found = sentence.length >= SHORTEST ? letters.text.indexOf(sentence) : -1;
    if (found >= 0) {
      const mark = wrap(lettersOf(within), found, found + sentence.length);
      first ??= mark;
    }
  }
  return first;
}

/** Letters and digits alone, in lower case: what is left when marks, blanks and punctuation differ. */
function reduced(text) {
  return [...text].map(reducedLetter).join("");
}

function reducedLetter(letter) {
  return /[\p{L}\p{N}]/u.test(letter) ? letter.toLowerCase() : "";
}

/** The letters of an element, and for each of them the node and the place it stands at. */
function lettersOf(within) {
  const places = [];
  let text = "";
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let offset = 0;
    for (const letter of node.data) {
      const kept = reducedLetter(letter);
      const place = { node, from: offset, to: offset + letter.length };
      for (let unit = 0; unit < kept.length; unit += 1) places.push(place);
      text += kept;
      offset += letter.length;
    }
  }
  return { text, places };
}

/** Mark everything from one letter to another, and what stands between them. */
function wrap({ places }, from, to) {
  const start = places[from];
  const end = places[to - 1];
  const nodes = new Set(places.slice(from, to).map((place) => place.node));
  let first = null;
  for (const node of nodes) {
    const words = node === start.node ? node.splitText(start.from) : node;
    if (node === end.node) words.splitText(end.to - (node === start.node ? start.from : 0));
    const mark = make("mark");
    words.replaceWith(mark);
    mark.append(words);
    first ??= mark;
  }
  return first;
}
