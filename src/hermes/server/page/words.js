// The words of a block of Markdown as nodes: emphasis, code, links, marks of sources.

import { linkOut, make, webAddress } from "./dom.js";

const DEEPEST = 12;
const LONGEST_WORDS = 1000;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const ADDRESS =
  /^\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)/;

/** The words of one block, put into an element. */
export function inline(text, into, cite, depth = 0, isLink = false) {
  const missing = new Set();
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const found = depth < DEEPEST ? special(text, at, { cite, depth, isLink, missing }) : null;
    if (found === null) {
      plain += text[at];
      at += 1;
      continue;
    }
    at = found.end;
    if (typeof found.node === "string") {
      plain += found.node;
    } else {
      into.append(plain, found.node);
      plain = "";
    }
  }
  into.append(plain);
  return into;
}

/** What begins at a place and is more than its letter; null where nothing does. */
function special(text, at, context) {
  switch (text[at]) {
    case "\\":
      if (text[at + 1] === "\n") return { node: make("br"), end: at + 2 };
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? { node: text[at + 1], end: at + 2 } : null;
    case "\n":
      return { node: text.slice(at - 2, at) === "  " ? make("br") : " ", end: at + 1 };
    case "`":
      return codeSpan(text, at, context);
    case "*":
    case "_":
    case "~":
      return emphasis(text, at, context);
    case "!":
      return text[at + 1] === "[" ? picture(text, at, context) : null;
    case "[":
      return mark(text, at, context) ?? link(text, at, context);
    case "<":
      return context.isLink ? null : angle(text, at);
    case "&":
      return entity(text, at);
    case "h":
    case "H":
      return context.isLink ? null : bare(text, at);
    default:
      return null;
  }
}

function codeSpan(text, at, { missing }) {
  const [ticks] = /^`+/.exec(text.slice(at, at + 40));
  if (missing.has(ticks)) return { node: ticks, end: at + ticks.length };
  for (let end = text.indexOf(ticks, at + ticks.length); end >= 0; end = text.indexOf(ticks, end)) {
    let after = end;
    while (text[after] === "`") after += 1;
    if (after - end === ticks.length) {
      const words = text.slice(at + ticks.length, end).replaceAll("\n", " ");
      const isPadded = words.startsWith(" ") && words.endsWith(" ") && words.trim() !== "";
      return { node: make("code", {}, isPadded ? words.slice(1, -1) : words), end: after };
    }
    end = after;
  }
  missing.add(ticks);
  return { node: ticks, end: at + ticks.length };
}

const NAMES = { "*": ["em", "strong"], _: ["em", "strong"], "~": ["", "del"] };

function emphasis(text, at, { cite, depth, isLink, missing }) {
  const letter = text[at];
  let length = 1;
  while (text[at + length] === letter) length += 1;
  const width = Math.min(length, 2);
  const name = NAMES[letter][width - 1];
  const literal = { node: letter.repeat(length), end: at + length };
  const sign = letter.repeat(width);
  if (!name || length > 3 || missing.has(sign) || !opens(text, at, length)) return literal;
  let end = text.indexOf(sign, at + length);
  while (end >= 0 && !closes(text, end, width)) end = text.indexOf(sign, end + 1);
  if (end < 0) {
    missing.add(sign);
    return literal;
  }
  if (length === 3 && text[end + width] === letter) end += 1;
  const inner = text.slice(at + width, end);
  return { node: inline(inner, make(name), cite, depth + 1, isLink), end: end + width };
}

function opens(text, at, length) {
  return /\S/.test(text[at + length] ?? " ") && !(text[at] === "_" && isLetter(text[at - 1]));
}

/** Whether emphasis can end here: behind a word, and with just as many signs as it began with. */
function closes(text, end, width) {
  const letter = text[end];
  if (!/\S/.test(text[end - 1])) return false;
  if (width === 1 && (text[end + 1] === letter || text[end - 1] === letter)) return false;
  return !(letter === "_" && isLetter(text[end + width]));
}

function isLetter(letter = " ") {
  return /[\p{L}\p{N}]/u.test(letter);
}

function mark(text, at, { cite }) {
  const found = /^\[(\d{1,3})\](?![(:])/.exec(text.slice(at, at + 8));
  const node = found && cite(Number(found[1]));
  return node ? { node, end: at + found[0].length } : null;
}

/** The brackets that begin at a place, and the address in parentheses behind them. */
function target(text, at) {
  let level = 0;
  let close = at;
  for (; close < text.length && close < at + LONGEST_WORDS; close += 1) {
    if (text[close] === "\\") close += 1;
    else if (text[close] === "[") level += 1;
    else if (text[close] === "]" && (level -= 1) === 0) break;
  }
  if (text[close] !== "]" || text[close + 1] !== "(") return null;
  const rest = text.slice(close + 2, close + 2 + 4000);
  const found = ADDRESS.exec(rest);
  if (!found) return null;
  const address = (found[1] ?? found[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1");
  return { words: text.slice(at + 1, close), address, end: close + 2 + found[0].length };
}

function link(text, at, { cite, depth, isLink }) {
  const found = target(text, at);
  if (!found || isLink) return null;
  const number = /^\d{1,3}$/.test(found.words) ? cite(Number(found.words)) : null;
  if (number) return { node: number, end: found.end };
  const node = linkOut(found.address);
  inline(found.words, node, () => null, depth + 1, true);
  return { node, end: found.end };
}

function picture(text, at, { isLink }) {
  const found = target(text, at + 1);
  if (!found) return null;
  const caption = found.words.trim() || "a picture";
  const node = make("span", { class: "picture" }, isLink ? caption : linkOut(found.address, caption));
  return { node, end: found.end };
}

function angle(text, at) {
  const found = /^<(https?:\/\/[^\s<>]+)>/i.exec(text.slice(at, at + 2100));
  return found ? { node: linkOut(found[1], found[1]), end: at + found[0].length } : null;
}

function bare(text, at) {
  if (isLetter(text[at - 1])) return null;
  const found = /^https?:\/\/[^\s<>"'`\])}|\\^]+/i.exec(text.slice(at, at + 2100));
  if (!found) return null;
  const address = found[0].replace(/[.,;:!?*_]+$/, "");
  return webAddress(address) ? { node: linkOut(address, address), end: at + address.length } : null;
}

function entity(text, at) {
  const found = /^&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/i.exec(text.slice(at, at + 12));
  if (!found) return null;
  const [whole, figures, hex, name] = found;
  const letter = name ? ENTITIES[name] : character(figures ? Number(figures) : parseInt(hex, 16));
  return letter ? { node: letter, end: at + whole.length } : null;
}

function character(code) {
  return code > 31 && code < 0x110000 ? String.fromCodePoint(code) : null;
}
