// What lies over what. On a narrow screen a panel covers the rest, which then cannot be reached either.

import { byId } from "./dom.js";

const narrow = matchMedia("(max-width: 60rem)");

/** Bring what can be reached in line with what is seen; called when a panel opens or closes. */
export function uncover() {
  const isRead = !byId("source").hidden;
  const isChosen = document.body.dataset.menu === "open";
  document.querySelector("main").inert = narrow.matches && (isRead || isChosen);
  byId("past").inert = byId("top").inert = narrow.matches && isRead;
}

narrow.addEventListener("change", uncover);
