// Finding the words of a quote in a rendered text, across its nodes and marks.

import { make } from "./dom.js";

const SHORTEST = 12;

const SENTENCE_END = /(?<=[.!?])\s+|\n+/;
const CLAUSE_END = /(?<=[.!?:;])\s+|\n+/;
const QUOTED = /["“]([^"“”]{12,600})["”]/g;
const BLOCKS = "p, li, td, th, blockquote, h3, h4, h5, h6";

/** Mark a quote in an element. Gives the first mark, or null where the words do not stand there. */
export function markQuote(within, quote) {
  const whole = markWords(within, quote, 1);
  if (whole) return whole;
  const marks = quote.split(CLAUSE_END).map((sentence) => markWords(within, sentence));
  return marks.find((mark) => mark !== null) ?? null;
}

/** Mark words where they stand in an element just so; null where they do not, or are too few to tell. */
export function markWords(within, words, shortest = SHORTEST) {
  const wanted = reduced(words);
  const letters = lettersOf(within);
  const found = wanted.length >= shortest ? letters.text.indexOf(wanted) : -1;
  return found >= 0 ? wrap(letters, found, found + wanted.length) : null;
}

/** What an answer says right before the mark of a source: words in quotation marks, the sentence, its end. */
export function saidBefore(chip) {
  const before = document.createRange();
  before.setStart(chip.closest(BLOCKS) ?? chip.parentNode, 0);
  before.setEndBefore(chip);
  const words = before.cloneContents();
  for (const other of words.querySelectorAll(".chip")) other.replaceWith("\n");
  const sentence = words.textContent.trim().split(SENTENCE_END).at(-1);
  const quoted = [...sentence.matchAll(QUOTED)].map((found) => found[1]);
  return [...quoted, sentence, sentence.split(CLAUSE_END).at(-1)];
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
