// The shell: where the person is, what waits, and which screen is shown. Addresses are behind '#': #/chat/ID.
import { html, render, signal, useEffect } from "./vendor/ui.js";
import { get, openSession } from "./api.js";
import { Icon } from "./icons.js";
import { isConnected, listen, reopen, watch } from "./news.js";
import { SCREENS, findScreen } from "./screens.js";

const place = signal(location.hash);
const home = signal(null);
const problem = signal(null);
const loads = signal(0); // counts up when the module of a screen has come

const loadHome = () => get("/api/home").then((found) => {
  home.value = found;
  problem.value = null;
  document.title = found.waiting.length ? `(${found.waiting.length}) toolroll` : "toolroll";
}, (failed) => {
  problem.value = failed;
});

let timer = 0;
const loadHomeSoon = () => {
  clearTimeout(timer);
  timer = setTimeout(loadHome, 300);
};

const parts = () => place.value.replace(/^#\/?/, "").split("/");

function Screen() {
  const [name, id] = parts();
  loads.value; // rendered again once the module is there
  const One = findScreen(name, () => { loads.value += 1; });
  if (!One || !home.value) return html`<div class="page"><p class="sub" role="status">Loading …</p></div>`;
  return html`<${One} key=${`${name}/${id || ""}`} id=${id} home=${home.value} />`;
}

function Link({ screen }) {
  const isHere = parts()[0] === screen.name;
  const count = screen.name === "waiting" && home.value ? home.value.waiting.length : 0;
  return html`<a href=${`#/${screen.name}`} aria-current=${isHere ? "page" : undefined}><${Icon} name=${screen.icon} /><span>${screen.label}</span>
    ${count > 0 && html`<span class="count" aria-label=${`${count} waiting`}>${count}</span>`}</a>`;
}

function Locked() {
  return html`<main class="page"><header><h1>This page is locked</h1></header>
    <p>${problem.value.message}</p>
    <p class="sub">Open the link that <code>toolroll serve</code> shows in the terminal. It begins with this address and ends in a token.</p></main>`;
}

function Side({ current }) {
  const recent = home.value ? home.value.runs : [];
  return html`<nav class="side" aria-label="Main">
    <a class="brand" href="#/" aria-label="toolroll, home"><img src="/static/icon.svg" alt="" /><span>toolroll</span></a>
    <div class="nav">${SCREENS.filter((one) => one.label).map((one) => html`<${Link} key=${one.name} screen=${one} />`)}</div>
    ${recent.length > 0 && html`<div class="recent"><span class="label">Recent</span>
      ${recent.map((run) => html`<a key=${run.id} href=${`#/chat/${run.id}`} title=${run.title}
        aria-current=${current === `#/chat/${run.id}` ? "page" : undefined}><span class=${`dot ${run.state}`}></span><span>${run.title || "Untitled"}</span></a>`)}</div>`}
    <footer role="status">${isConnected.value ? `toolroll ${home.value ? home.value.version : ""}` : "The server does not answer …"}</footer>
  </nav>`;
}

function App() {
  const current = place.value;
  useEffect(() => {
    if (!current.startsWith("#/chat/")) watch("");
    loadHome();
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [current]);
  if (problem.value && problem.value.status === 401) return html`<${Locked} />`;
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to content</a>
    <${Side} current=${current} />
    <main id="main" tabindex="-1">${problem.value && html`<p class="notice bad" role="alert">${problem.value.message}</p>`}<${Screen} /></main>
  </div>`;
}

// Also the link of a new launch, opened in the tab of an old one: the browser takes it for a move on the same page.
async function arrive() {
  try {
    if (await openSession()) reopen();
    problem.value = null;
  } catch (failed) {
    problem.value = failed;
  }
  place.value = location.hash;
}

window.addEventListener("hashchange", arrive);
listen((news) => news.kind !== "text" && loadHomeSoon());
await arrive();
render(html`<${App} />`, document.getElementById("app"));
