// Markdown as DOM nodes. Nothing is ever parsed as HTML: tags in the text are text, links lead to the
// web alone, and pictures are their captions.

import { linkOut, make, webAddress } from "./dom.js";

const DEEPEST = 12;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Put a text into an element; what stood there and is unchanged keeps its nodes. `cite` makes a mark's node. */
export function render(text, into, cite = () => null) {
  const blocks = parse(text.replace(/\r\n?/g, "\n").split("\n"), 0);
  const held = into.blocks ?? [];
  let same = 0;
  while (same < blocks.length && same < held.length && held[same] === blocks[same].source) same += 1;
  while (into.childNodes.length > same) into.lastChild.remove();
  for (const block of blocks.slice(same)) into.append(build(block, cite));
  into.blocks = blocks.map((block) => block.source);
}

/** Everything is built anew with the next `render`: for when what marks mean has changed. */
export function forget(into) {
  into.blocks = [];
}

function parse(lines, depth) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === "") {
      at += 1;
      continue;
    }
    const block = nextBlock(lines, at, depth);
    block.source = lines.slice(at, block.end).join("\n");
    blocks.push(block);
    at = block.end;
  }
  return blocks;
}

function nextBlock(lines, at, depth) {
  const line = lines[at];
  let found;
  if ((found = FENCE.exec(line))) return fenced(lines, at, found);
  if ((found = HEADING.exec(line))) return { kind: "heading", level: found[1].length, text: found[2] ?? "", end: at + 1 };
  if (RULE.test(line)) return { kind: "rule", end: at + 1 };
  if (/^(?: {4}|\t)/.test(line)) return indented(lines, at);
  if (depth < DEEPEST && QUOTE.test(line)) return quoted(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, depth);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    const made = table(lines, at);
    if (made) return made;
  }
  return paragraph(lines, at);
}

function fenced(lines, at, [opening, fence]) {
  const indent = opening.length - opening.trimStart().length;
  let end = at + 1;
  const closes = (line) => /^ {0,3}[`~]+\s*$/.test(line) && line.trim().startsWith(fence);
  while (end < lines.length && !closes(lines[end])) end += 1;
  const body = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)));
  return { kind: "code", text: body.join("\n"), end: Math.min(end + 1, lines.length) };
}

function indented(lines, at) {
  let end = at;
  while (end < lines.length && (/^(?: {4}|\t)/.test(lines[end]) || lines[end].trim() === "")) end += 1;
  const body = lines.slice(at, end).map((line) => line.replace(/^(?: {4}|\t)/, ""));
  return { kind: "code", text: body.join("\n").trimEnd(), end };
}

function quoted(lines, at, depth) {
  let end = at;
  while (end < lines.length && (QUOTE.test(lines[end]) || continues(lines[end]))) end += 1;
  const body = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return { kind: "quote", blocks: parse(body, depth + 1), end };
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(first[2]);
  const items = [];
  let isLoose = false;
  let next = at;
  while (isItemLike(first, lines[next])) {
    const found = ITEM.exec(lines[next]);
    const width = found[1].length + found[2].length + Math.min(Math.max(found[3].length, 1), 4);
    const body = [lines[next].slice(found[0].length)];
    for (at = next + 1; at < lines.length && belongs(lines, at, width); at += 1) {
      body.push(lines[at].slice(Math.min(width, lines[at].length - lines[at].trimStart().length)));
    }
    items.push(parse(body, depth + 1));
    for (next = at; next < lines.length && lines[next].trim() === ""; ) next += 1;
    isLoose ||= body.slice(0, -1).some((line) => line.trim() === "") || (next > at && isItemLike(first, lines[next]));
  }
  return { kind: "list", isOrdered, isLoose, start: parseInt(first[2], 10) || 0, items, end: at };
}

/** Whether a line begins another item of the same list. */
function isItemLike(first, line) {
  const found = line === undefined || RULE.test(line) ? null : ITEM.exec(line);
  return found !== null && found[2].slice(-1) === first[2].slice(-1);
}

/** Whether a line is part of an item whose words begin at this column. */
function belongs(lines, at, width) {
  const line = lines[at];
  if (line.trim() === "") {
    const next = lines.slice(at + 1, at + 3).find((one) => one.trim() !== "");
    return next !== undefined && next.length - next.trimStart().length >= Math.min(width, 2);
  }
  const indent = line.length - line.trimStart().length;
  return indent >= Math.min(width, 2) || (lines[at - 1].trim() !== "" && continues(line));
}

/** Whether a line only goes on with the paragraph before it. */
function continues(line) {
  return line.trim() !== "" && ![FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line));
}

function table(lines, at) {
  const head = cells(lines[at]);
  const sides = cells(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "middle" : "right") : ""));
  if (head.length !== sides.length) return null;
  let end = at + 2;
  const rows = [];
  while (end < lines.length && lines[end].includes("|") && lines[end].trim() !== "") {
    rows.push(cells(lines[end]).slice(0, head.length));
    end += 1;
  }
  return { kind: "table", head, sides, rows, end };
}

function cells(line) {
  const row = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && continues(lines[end])) {
    if (/^ {0,3}=+\s*$/.test(lines[end])) {
      return { kind: "heading", level: 1, text: lines.slice(at, end).join(" "), end: end + 1 };
    }
    if (lines[end].includes("|") && TABLE_RULE.test(lines[end + 1] ?? "") && lines[end + 1].includes("|")) break;
    end += 1;
  }
  return { kind: "paragraph", text: lines.slice(at, end).map((line) => line.trimStart()).join("\n"), end };
}

function build(block, cite) {
  switch (block.kind) {
    case "heading":
      return inline(block.text, make(`h${Math.min(block.level + 2, 6)}`), cite);
    case "rule":
      return make("hr");
    case "code":
      return make("pre", { tabindex: "0" }, make("code", {}, block.text));
    case "quote":
      return buildAll(block.blocks, make("blockquote"), cite);
    case "list":
      return buildList(block, cite);
    case "table":
      return buildTable(block, cite);
    default:
      return inline(block.text, make("p"), cite);
  }
}

function buildAll(blocks, into, cite) {
  into.append(...blocks.map((block) => build(block, cite)));
  return into;
}

function buildList(block, cite) {
  const made = make(block.isOrdered ? "ol" : "ul", { start: block.isOrdered && block.start !== 1 ? block.start : null });
  for (const blocks of block.items) {
    const item = make("li");
    const [first, ...rest] = blocks;
    if (!block.isLoose && first?.kind === "paragraph") {
      inline(first.text, item, cite);
      buildAll(rest, item, cite);
    } else {
      buildAll(blocks, item, cite);
    }
    made.append(item);
  }
  return made;
}

function buildTable(block, cite) {
  const row = (words, name) =>
    make("tr", {}, ...words.map((word, place) => inline(word, make(name, { class: block.sides[place] || null }), cite)));
  const made = make("table", {}, make("thead", {}, row(block.head, "th")));
  made.append(make("tbody", {}, ...block.rows.map((words) => row(words, "td"))));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "table" }, made);
}

/** The words of one block, put into an element. */
function inline(text, into, cite, depth = 0, isLink = false) {
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
      const isPadded = /^ .*[^ ].* $/.test(words);
      return { node: make("code", {}, isPadded ? words.slice(1, -1) : words), end: after };
    }
    end = after;
  }
  missing.add(ticks);
  return { node: ticks, end: at + ticks.length };
}

const EMPHASIS = { 1: "em", 2: "strong" };

function emphasis(text, at, { cite, depth, isLink, missing }) {
  const letter = text[at];
  let length = 1;
  while (text[at + length] === letter) length += 1;
  const width = letter === "~" ? 2 : Math.min(length, 2);
  const sign = letter.repeat(width);
  const literal = { node: letter.repeat(length), end: at + length };
  if ((letter === "~" && length !== 2) || length > 3 || missing.has(sign)) return literal;
  const opens = /\S/.test(text[at + length] ?? " ") && !(letter === "_" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? " "));
  if (!opens) return literal;
  for (let end = text.indexOf(sign, at + width + (length === 3 ? 1 : 0)); end >= 0; end = text.indexOf(sign, end + 1)) {
    const closes =
      /\S/.test(text[end - 1]) &&
      end > at + width &&
      !(width === 1 && (text[end + 1] === letter || text[end - 1] === letter)) &&
      !(letter === "_" && /[\p{L}\p{N}]/u.test(text[end + width] ?? " "));
    if (closes) {
      if (length === 3 && text[end + width] === letter) end += 1;
      const inner = text.slice(at + width, end);
      const name = letter === "~" ? "del" : EMPHASIS[width];
      return { node: inline(inner, make(name), cite, depth + 1, isLink), end: end + width };
    }
  }
  missing.add(sign);
  return literal;
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
  for (; close < text.length && close < at + 2000; close += 1) {
    if (text[close] === "\\") close += 1;
    else if (text[close] === "[") level += 1;
    else if (text[close] === "]" && (level -= 1) === 0) break;
  }
  if (text[close] !== "]" || text[close + 1] !== "(") return null;
  const rest = text.slice(close + 2, close + 2 + 4000);
  const found = /^\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)/.exec(rest);
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
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return null;
  const found = /^https?:\/\/[^\s<>"'`\])}|\\^]+/i.exec(text.slice(at, at + 2100));
  if (!found) return null;
  const address = found[0].replace(/[.,;:!?*_]+$/, "");
  return webAddress(address) ? { node: linkOut(address, address), end: at + address.length } : null;
}

function entity(text, at) {
  const found = /^&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/i.exec(text.slice(at, at + 12));
  if (!found) return null;
  const code = found[1] ? Number(found[1]) : found[2] ? parseInt(found[2], 16) : null;
  const letter = code === null ? ENTITIES[found[3]] : code > 31 && code < 0x110000 ? String.fromCodePoint(code) : null;
  return letter ? { node: letter, end: at + found[0].length } : null;
}
