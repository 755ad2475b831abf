// Markdown as DOM nodes. Nothing is ever parsed as HTML: tags in the text are text, links lead to the
// web alone, and pictures are their captions.

import { parse } from "./blocks.js";
import { make } from "./dom.js";
import { inline } from "./words.js";

/**
 * Put a text into an element; what stood there and is unchanged keeps its nodes.
 * `cite` makes the node of a mark such as `[1]`, or gives null where it is none.
 */
export function render(text, into, cite = () => null) {
  const blocks = parse(text.replace(/\r\n?/g, "\n").split("\n"));
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
  const start = block.isOrdered && block.start !== 1 ? block.start : null;
  const made = make(block.isOrdered ? "ol" : "ul", { start });
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
  const cell = (name, words, side) => inline(words, make(name, { class: side || null }), cite);
  const row = (all, name) =>
    make("tr", {}, ...all.map((words, place) => cell(name, words, block.sides[place])));
  const made = make("table", {}, make("thead", {}, row(block.head, "th")));
  made.append(make("tbody", {}, ...block.rows.map((words) => row(words, "td"))));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "table" }, made);
}
