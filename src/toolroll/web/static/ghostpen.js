// The writer's desk: begin a post, what lies on the desk, profiles and past posts. Its texts come from the server.
import { html, signal, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { ago } from "./format.js";
import { Icon } from "./icons.js";
import { listen } from "./news.js";
import { Post } from "./ghostpen_post.js";
import { Mix, Profile, Profiles } from "./ghostpen_profiles.js";
import { Past } from "./ghostpen_past.js";

const LANG = "desk:lang";
export const desk = signal(null);

// A text of the desk in the writer's language; values stand in braces.
export function t(key, values = {}) {
  const text = desk.value.texts[key] || key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const inLang = (path) => `${path}${path.includes("?") ? "&" : "?"}lang=${desk.value ? desk.value.lang : localStorage.getItem(LANG) || ""}`;
export const PLATFORMS = { linkedin: "LinkedIn", instagram: "Instagram", x: "X" };

export async function loadDesk() {
  desk.value = await get(`/api/desk?lang=${encodeURIComponent(localStorage.getItem(LANG) || "")}`);
}

function useDesk() {
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const load = () => loadDesk().then(() => setProblem(null), setProblem);
    let timer = 0;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(load, 200);
    };
    load();
    const stop = listen((news) => (news.kind === "reopened" || (news.kind === "changed" && String(news.chat).startsWith("post:"))) && soon());
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return problem;
}

export function stateOfPost(one) {
  const key = one.state === "ended" ? `state_${one.end}` : `state_${one.state}`;
  const look = { writing: "run", asking: "wait", deciding: "wait", paused: "bad" }[one.state] || "";
  return [t(key), look];
}

export function Problem({ problem }) {
  return problem ? html`<p class="notice bad pre" role="alert">${problem.message}</p>` : null;
}

function Languages() {
  const choose = (lang) => () => {
    localStorage.setItem(LANG, lang);
    loadDesk();
  };
  return html`<div class="row" role="group" aria-label=${t("language")}>${desk.value.languages.map((lang) => html`<button key=${lang}
    class="btn small" lang=${lang} aria-pressed=${desk.value.lang === lang} onClick=${choose(lang)}>${lang.toUpperCase()}</button>`)}</div>`;
}

function Tabs({ here }) {
  const tabs = [["", "tab_write"], ["profiles", "tab_profiles"], ["past", "tab_past"]];
  return html`<nav class="tabs" aria-label=${t("views")}>${tabs.map(([name, key]) => html`<a key=${key} href=${`#/write${name && `/${name}`}`}
    aria-current=${here === name ? "page" : undefined}>${t(key)}</a>`)}</nav>`;
}

function Segments({ label, value, choices, onChange }) {
  return html`<fieldset class="segments"><legend>${label}</legend>${choices.map(([one, name]) => html`<label key=${one}>
    <input type="radio" name=${label} checked=${value === one} onChange=${() => onChange(one)} /><span>${name}</span></label>`)}</fieldset>`;
}

function Begin() {
  const profiles = desk.value.profiles;
  const [text, setText] = useState(localStorage.getItem("draft:post") || "");
  const [platform, setPlatform] = useState("");
  const [base, setBase] = useState((profiles.find((one) => one.name === (sessionStorage.getItem("desk:base") || "default")) || profiles[0]).name);
  const [techniques, setTechniques] = useState(sessionStorage.getItem("desk:techniques") || "");
  const [notion, setNotion] = useState("");
  const [model, setModel] = useState("");
  const [problem, setProblem] = useState(null);
  const change = (value) => {
    setText(value);
    localStorage.setItem("draft:post", value);
  };
  const begin = async (event) => {
    event.preventDefault();
    try {
      const mixed = techniques && techniques !== base ? [base, techniques] : [base];
      const made = await post(inLang("/api/desk/posts"), {
        request: text, platform: platform || null, profiles: mixed, model: model || null, notion: notion || null,
      });
      localStorage.removeItem("draft:post");
      location.hash = `#/write/post/${made.id}`;
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<form class="card pad stack" onSubmit=${begin}>
    ${!desk.value.model && html`<p class="notice">${t("no_model")} <a href="#/settings">${t("to_settings")}</a></p>`}
    <label class="field"><span>${t("request")}</span>
      <textarea rows="3" required value=${text} placeholder=${t("request_hint")} onInput=${(event) => change(event.target.value)}></textarea></label>
    <${Segments} label=${t("platform")} value=${platform} onChange=${setPlatform}
      choices=${[["", t("platform_auto")], ...Object.entries(PLATFORMS)]} />
    <div class="two">
      <label class="field"><span>${t("profile")}</span><select value=${base} onChange=${(event) => setBase(event.target.value)}>
        ${profiles.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select></label>
      <label class="field"><span>${t("mix_with")}</span><select value=${techniques} onChange=${(event) => setTechniques(event.target.value)}>
        <option value="">${t("mix_none")}</option>
        ${profiles.filter((one) => one.name !== base).map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select></label>
    </div>
    <details class="more" open=${!desk.value.model}><summary>${t("more_options")}</summary><div class="two">
      <label class="field"><span>${t("model")}</span><input type="text" value=${model} placeholder=${desk.value.model || t("model_hint")}
        onInput=${(event) => setModel(event.target.value)} /></label>
      <label class="field"><span>${t("notion_source")}</span><input type="text" value=${notion} onInput=${(event) => setNotion(event.target.value)} /></label>
    </div></details>
    <${Problem} problem=${problem} />
    <div><button class="btn primary" disabled=${!text.trim()}><${Icon} name="edit" />${t("begin")}</button></div>
  </form>`;
}

// Without a profile there is nothing to write by: the sample, or one from the writer's own posts.
export function FirstProfile() {
  const [problem, setProblem] = useState(null);
  const create = async () => {
    try {
      await post(inLang("/api/desk/profiles"), { name: "default" });
      await loadDesk();
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<section class="card pad stack first"><p>${t("no_profile")}</p><${Problem} problem=${problem} />
    <div class="row"><button class="btn primary" onClick=${create}>${t("sample")}</button>
      <a class="btn" href="#/write/learn">${t("from_posts")}</a></div></section>`;
}

function Write() {
  const { posts, profiles } = desk.value;
  return html`${profiles.length ? html`<${Begin} />` : html`<${FirstProfile} />`}
    <section class="stack" aria-label=${t("on_desk")}><h2>${t("on_desk")}</h2><div class="card">
      ${posts.length === 0 ? html`<p class="empty">${t("desk_empty")}</p>` : html`<ul class="list">${posts.map((one) => {
        const [words, look] = stateOfPost(one);
        return html`<li key=${one.id}><a class="line" href=${`#/write/post/${one.id}`}>
          <span class="title">${one.request}</span><span class=${`tag ${look}`}>${words}</span>
          <span class="small">${PLATFORMS[one.platform]}, ${one.profile}</span><span class="small">${ago(one.created)}</span></a></li>`;
      })}</ul>`}</div></section>`;
}

function Part({ name, id }) {
  if (name === "profiles") return html`<${Profiles} />`;
  if (name === "profile" && id) return html`<${Profile} name=${id} key=${id} />`;
  if (name === "learn" || name === "mix") return html`<${Mix} isLearning=${name === "learn"} key=${name} />`;
  if (name === "past") return html`<${Past} />`;
  return html`<${Write} />`;
}

export function Ghostpen() {
  const problem = useDesk();
  const [, , name, id] = location.hash.split("/");
  if (!desk.value) return html`<div class="page">${problem ? html`<${Problem} problem=${problem} />` : html`<p class="sub" role="status">…</p>`}</div>`;
  if (name === "post" && id) return html`<div class="page wide" lang=${desk.value.lang}><${Post} id=${id} key=${id} /></div>`;
  return html`<div class="page" lang=${desk.value.lang}>
    <header><div class="row"><h1 class="grow">Ghostpen</h1><${Languages} /></div><p class="sub">${t("about")}</p></header>
    <${Tabs} here=${name === "past" ? "past" : name === "profiles" || name === "profile" || name === "mix" || name === "learn" ? "profiles" : ""} />
    <${Problem} problem=${problem} />
    <${Part} name=${name} id=${id} />
  </div>`;
}
