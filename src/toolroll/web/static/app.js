// The shell: where the person is, what waits, and which screen is shown. Addresses are behind '#': #/chat/ID.
import { html, render, signal, useEffect } from "./vendor/ui.js";
import { get, openSession } from "./api.js";
import { Chat } from "./chat.js";
import { Home, Runs } from "./home.js";
import { Icon } from "./icons.js";
import { Idea, Ideas } from "./ideas.js";
import { isConnected, listen, watch } from "./news.js";

const place = signal(location.hash);
const home = signal(null);
const problem = signal(null);

const loadHome = () => get("/api/home").then((found) => {
  home.value = found;
  problem.value = null;
}, (failed) => {
  problem.value = failed;
});

let timer = 0;
const loadHomeSoon = () => {
  clearTimeout(timer);
  timer = setTimeout(loadHome, 300);
};

function Screen() {
  const [, name, id] = place.value.split("/");
  if (name === "chat" && id) return html`<${Chat} id=${id} key=${id} />`;
  if (name === "runs") return html`<${Runs} />`;
  if (name === "ideas") return html`<${Ideas} />`;
  if (name === "idea" && id) return html`<${Idea} id=${id} key=${id} />`;
  return home.value ? html`<${Home} home=${home.value} />` : html`<div class="page"><p class="sub" role="status">Loading …</p></div>`;
}

function Link({ to, icon, children, count }) {
  const isHere = place.value === to || (to === "#/" && (place.value === "" || place.value === "#"));
  return html`<a href=${to} aria-current=${isHere ? "page" : undefined}><${Icon} name=${icon} />${children}
    ${count > 0 && html`<span class="count" aria-label=${`${count} waiting`}>${count}</span>`}</a>`;
}

function Locked() {
  return html`<main class="page"><header><h1>This page is locked</h1></header>
    <p>${problem.value.message}</p>
    <p class="sub">Open the link that <code>toolroll serve</code> shows in the terminal. It begins with this address and ends in a token.</p></main>`;
}

function App() {
  const current = place.value;
  useEffect(() => {
    if (!current.startsWith("#/chat/")) watch("");
    loadHome();
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [current]);
  if (problem.value && problem.value.status === 401) return html`<${Locked} />`;
  const recent = home.value ? home.value.runs : [];
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to content</a>
    <nav class="side" aria-label="Main">
      <a class="brand" href="#/" aria-label="toolroll, home"><img src="/static/icon.svg" alt="" /><span>toolroll</span></a>
      <div class="nav"><${Link} to="#/" icon="home" count=${home.value ? home.value.waiting.length : 0}>Home<//>
        <${Link} to="#/ideas" icon="idea">Ideas<//><${Link} to="#/runs" icon="runs">Runs<//></div>
      <div class="recent"><span class="label">Recent</span>
        ${recent.map((run) => html`<a key=${run.id} href=${`#/chat/${run.id}`} title=${run.title}
          aria-current=${current === `#/chat/${run.id}` ? "page" : undefined}>${run.title || "Untitled"}</a>`)}</div>
      <footer>${isConnected.value ? `toolroll ${home.value ? home.value.version : ""}` : "The server does not answer …"}</footer>
    </nav>
    <main id="main" tabindex="-1">${problem.value && html`<p class="notice bad" role="alert">${problem.value.message}</p>`}<${Screen} /></main>
  </div>`;
}

window.addEventListener("hashchange", () => {
  place.value = location.hash;
});
listen((news) => news.kind !== "text" && loadHomeSoon());
try {
  await openSession();
} catch (failed) {
  problem.value = failed;
}
place.value = location.hash;
render(html`<${App} />`, document.getElementById("app"));
