// One stream of news for this tab. It is closed while the tab is hidden: a browser allows six connections to a server.
import { signal } from "./vendor/ui.js";

export const isConnected = signal(true);
const listeners = new Set();
let source = null;
let watched = "";

export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function watch(chatId) {
  if (watched === chatId && source) return;
  watched = chatId;
  open();
}

function tell(news) {
  for (const listener of [...listeners]) listener(news);
}

export const reopen = () => open();

function open() {
  if (source) source.close();
  source = null;
  if (document.hidden) return;
  source = new EventSource(`/api/news?chat=${encodeURIComponent(watched)}`);
  source.onopen = () => {
    isConnected.value = true;
    tell({ kind: "reopened" }); // what happened meanwhile is on record
  };
  source.onerror = (event) => {
    isConnected.value = false;
    // A server that is away is asked again by itself; one that refuses us is another launch, and the page must say so.
    if (event.target.readyState === EventSource.CLOSED) tell({ kind: "lost" });
  };
  source.addEventListener("changed", (event) => tell({ kind: "changed", ...JSON.parse(event.data) }));
  source.addEventListener("text", (event) => tell({ kind: "text", ...JSON.parse(event.data) }));
}

document.addEventListener("visibilitychange", open);
window.addEventListener("pagehide", () => source && source.close());
