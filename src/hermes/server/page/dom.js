// Small helpers to build the page. Text is only ever put in as text.

/** An element with attributes, properties that are functions (`onclick`), and children: nodes or text. */
export function make(name, given = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** A link that leads out of here; where an address is not of the web, its words alone. */
export function linkOut(address, ...children) {
  const href = webAddress(address);
  if (href === null) return make("span", {}, ...children);
  return make("a", { href, rel: "noopener noreferrer", target: "_blank" }, ...children);
}

/** An address as it may stand in a link: `http:` or `https:`; null for every other. */
export function webAddress(address) {
  if (!/^https?:\/\//i.test(address)) return null;
  try {
    return new URL(address).href;
  } catch {
    return null;
  }
}

/** The host of a web address; every other address as it is. */
export function host(address) {
  const href = webAddress(address);
  return href === null ? address : new URL(href).host;
}

export const figure = (number) => number.toLocaleString("en");

export const count = (number, one, many) => `${figure(number)} ${number === 1 ? one : many}`;

export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function size(characters) {
  return characters < 1000 ? `${characters} characters` : `${(characters / 1000).toFixed(1)}k characters`;
}

export function money(dollars) {
  if (dollars === 0) return "free";
  return dollars < 0.01 ? `$${dollars.toFixed(5)}` : `$${dollars.toFixed(3)}`;
}

/** A moment as a person says it: the time today, else the day. */
export function when(seconds) {
  const then = new Date(seconds * 1000);
  if (then.toDateString() === new Date().toDateString()) {
    return then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  return then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

export function oneLine(text, most = 120) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
