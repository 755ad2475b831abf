// What stands in the way of a person: fields and buttons without names, text that is hard to read, small targets,
// headings that skip, ids that are not unique. Gives a list of complaints.
() => {
  const complaints = [];
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const described = (element) => `${element.tagName.toLowerCase()}#${element.id}.${element.className} ${element.textContent.slice(0, 30)}`;

  const nameOf = (element) =>
    element.getAttribute("aria-label") ||
    (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim() ||
    [...(element.labels ?? [])].map((label) => label.textContent).join(" ").trim() ||
    (["BUTTON", "A", "SUMMARY"].includes(element.tagName) ? element.textContent.trim() : "");
  for (const element of document.querySelectorAll("button, a[href], input, textarea, select, summary, nav, aside, dialog, [role=region], [role=search]")) {
    if (element.getAttribute("role") === "search" || !isSeen(element)) continue;
    if (!nameOf(element)) complaints.push(`no name: ${described(element)}`);
  }
  for (const element of document.querySelectorAll("button, a[href], input, textarea, summary")) {
    if (!isSeen(element) || element.closest(".prose p, .prose li, .unseen, #source-address") || element.classList.contains("skip")) continue;
    const box = element.getBoundingClientRect();
    if (box.height < 20 || box.width < 20) complaints.push(`small: ${described(element)} ${box.width}x${box.height}`);
  }

  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) complaints.push(`id twice: ${id}`);
  for (const role of ["main", "nav", "header"]) if (!document.querySelector(role)) complaints.push(`no landmark: ${role}`);
  if (!document.documentElement.lang) complaints.push("no language");
  if (document.querySelectorAll("[tabindex]:not([tabindex='0'], [tabindex='-1'])").length) complaints.push("an order of its own");

  let level = 0;
  for (const heading of document.querySelectorAll("main :is(h1, h2, h3, h4, h5, h6)")) {
    if (heading.closest(".prose")) continue;
    const now = Number(heading.tagName[1]);
    if (now > level + 1) complaints.push(`skips a level: ${described(heading)}`);
    level = now;
  }

  const parse = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((part, place) => part * a + under[place] * (1 - a));
  const ground = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) layers.unshift(parse(getComputedStyle(each).backgroundColor));
    return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [darker, lighter] = [light(one), light(other)].sort((a, b) => a - b);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element) || element.closest(".unseen, noscript, .skip, dialog:not([open])")) continue;
    const found = contrast(over(parse(getComputedStyle(element).color), ground(element)), ground(element));
    if (found < 4.5) complaints.push(`contrast ${found.toFixed(2)}: ${described(element)}`);
  }
  for (const field of document.querySelectorAll("input, textarea")) {
    if (!isSeen(field)) continue;
    const edge = contrast(parse(getComputedStyle(field).borderTopColor).slice(0, 3), ground(field.parentElement));
    if (edge < 3) complaints.push(`faint edge ${edge.toFixed(2)}: ${described(field)}`);
  }
  return complaints;
}
