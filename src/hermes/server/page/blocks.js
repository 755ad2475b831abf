// Markdown taken apart into blocks: headings, lists, tables and the like. Pure: lines in, values out.

const DEEPEST = 12;
const LONGEST_RULE = 1000;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const TABLE_RULE = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;

/** The blocks of some lines, each with its kind, what it holds, and its lines as `source`. */
export function parse(lines, depth = 0) {
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
  if ((found = HEADING.exec(line))) return heading(line, found, at);
  if (RULE.test(line)) return { kind: "rule", end: at + 1 };
  if (/^(?: {4}|\t)/.test(line)) return indented(lines, at);
  if (depth < DEEPEST && QUOTE.test(line)) return quoted(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, depth);
  return (beginsTable(lines, at) && table(lines, at)) || paragraph(lines, at);
}

function heading(line, [opening, signs], at) {
  const text = line.slice(opening.length).trim().replace(/(?:^|\s)#+$/, "");
  return { kind: "heading", level: signs.length, text: text.trimEnd(), end: at + 1 };
}

function fenced(lines, at, [opening, fence]) {
  const indent = indentOf(opening);
  let end = at + 1;
  const closes = (line) => /^ {0,3}[`~]+\s*$/.test(line) && line.trim().startsWith(fence);
  while (end < lines.length && !closes(lines[end])) end += 1;
  const body = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indent, indentOf(line))));
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
      body.push(lines[at].slice(Math.min(width, indentOf(lines[at]))));
    }
    items.push(parse(body, depth + 1));
    for (next = at; next < lines.length && lines[next].trim() === ""; ) next += 1;
    isLoose ||= body.slice(0, -1).some((line) => line.trim() === "");
    isLoose ||= next > at && isItemLike(first, lines[next]);
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
    return next !== undefined && indentOf(next) >= Math.min(width, 2);
  }
  return indentOf(line) >= Math.min(width, 2) || (lines[at - 1].trim() !== "" && continues(line));
}

/** Whether a line only goes on with the paragraph before it. */
function continues(line) {
  return line.trim() !== "" && ![FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line));
}

function table(lines, at) {
  const head = cells(lines[at]);
  const sides = cells(lines[at + 1]).map(side);
  if (head.length !== sides.length) return null;
  let end = at + 2;
  const rows = [];
  while (end < lines.length && lines[end].includes("|") && lines[end].trim() !== "") {
    rows.push(cells(lines[end]).slice(0, head.length));
    end += 1;
  }
  return { kind: "table", head, sides, rows, end };
}

/** Whether a line is the head of a table: a rule stands under it. */
function beginsTable(lines, at) {
  const rule = (lines[at + 1] ?? "").trim();
  return lines[at].includes("|") && rule.length < LONGEST_RULE && TABLE_RULE.test(rule);
}

/** Where the words of a column stand, as its rule says. */
function side(rule) {
  if (!rule.endsWith(":")) return "";
  return rule.startsWith(":") ? "middle" : "right";
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
    if (beginsTable(lines, end)) break;
    end += 1;
  }
  return { kind: "paragraph", text: lines.slice(at, end).map((line) => line.trimStart()).join("\n"), end };
}

function indentOf(line) {
  return line.length - line.trimStart().length;
}
