// What stands in the way of a person: fields and buttons without names, text that is hard to read, targets
// that are hard to hit, headings that skip, ids that are not unique. Gives a list of complaints.
() => {
  const complaints = [];
  const all = (path) => [...document.querySelectorAll(path)];
  const isSeen = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const described = (element) =>
    `${element.tagName.toLowerCase()}#${element.id}.${element.className} ${element.textContent.slice(0, 30)}`;

  const textOf = (id) => document.getElementById(id)?.textContent ?? "";
  const nameOf = (element) =>
    element.getAttribute("aria-label") ||
    (element.getAttribute("aria-labelledby") ?? "").split(" ").map(textOf).join(" ").trim() ||
    [...(element.labels ?? [])].map((label) => label.textContent).join(" ").trim() ||
    (element.matches("button, a, summary") ? element.textContent.trim() : "");
  for (const element of all("button, a[href], input, textarea, summary, nav, aside, dialog, [role=region]")) {
    if (isSeen(element) && !nameOf(element)) complaints.push(`no name: ${described(element)}`);
  }

  const inText = ".prose p, .prose li, .unseen, .skip, #source-address";
  for (const element of all("button, a[href], input, textarea, summary")) {
    if (!isSeen(element) || element.closest(inText)) continue;
    const { width, height } = element.getBoundingClientRect();
    if (height < 20 || width < 20) complaints.push(`small: ${described(element)} ${width}x${height}`);
  }

  const ids = all("[id]").map((element) => element.id);
  const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
  complaints.push(...twice.map((id) => `id twice: ${id}`));
  const landmarks = ["main", "nav", "header"].filter((name) => !document.querySelector(name));
  complaints.push(...landmarks.map((name) => `no landmark: ${name}`));
  if (!document.documentElement.lang) complaints.push("no language");
  if (all("[tabindex]:not([tabindex='0'], [tabindex='-1'])").length) complaints.push("an order of its own");

  let level = 0;
  for (const heading of all("main :is(h1, h2, h3, h4, h5, h6)")) {
    if (heading.closest(".prose")) continue;
    const now = Number(heading.tagName[1]);
    if (now > level + 1) complaints.push(`skips a level: ${described(heading)}`);
    level = now;
  }

  const parse = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((part, at) => part * a + under[at] * (1 - a));
  const ground = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      layers.unshift(parse(getComputedStyle(each).backgroundColor));
    }
    return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [darker, lighter] = [light(one), light(other)].sort((a, b) => a - b);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const unread = ".unseen, noscript, .skip, dialog:not([open])";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element) || element.closest(unread)) continue;
    const behind = ground(element);
    const found = contrast(over(parse(getComputedStyle(element).color), behind), behind);
    if (found < 4.5) complaints.push(`contrast ${found.toFixed(2)}: ${described(element)}`);
  }
  for (const field of all("input, textarea").filter(isSeen)) {
    const edge = parse(getComputedStyle(field).borderTopColor).slice(0, 3);
    const found = contrast(edge, ground(field.parentElement));
    if (found < 3) complaints.push(`faint edge ${found.toFixed(2)}: ${described(field)}`);
  }
  return complaints;
}
