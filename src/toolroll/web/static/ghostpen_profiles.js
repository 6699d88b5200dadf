// Profiles: cards, portraits, edits with the old and the new beside each other, mixes, and one made from posts.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { desk, FirstProfile, inLang, loadDesk, PLATFORMS, Problem, t } from "./ghostpen.js";
import { Icon } from "./icons.js";

function Card({ one }) {
  const words = (label, items) => items.length > 0 && html`<div><dt>${label}</dt><dd class="chips">${items.slice(0, 5).map((item) => html`<span key=${item} class="tag">${item}</span>`)}</dd></div>`;
  return html`<article class="card pad profile"><header class="row"><span class="face" aria-hidden="true">${one.name[0].toUpperCase()}</span>
      <div class="grow"><h2><a href=${`#/write/profile/${one.name}`}>${one.name}</a></h2>
      <p class="small">${one.type_name}, ${one.language}, ${t("version", { number: one.version })}</p></div></header>
    <blockquote>${one.tone}</blockquote>
    <dl>${words(t("begins"), one.hooks)}${words(t("own_phrases"), one.phrases)}${words(t("never"), one.avoid)}
      ${words(t("platforms"), one.platforms.map((name) => PLATFORMS[name]))}</dl></article>`;
}

export function Profiles() {
  const { profiles, broken } = desk.value;
  return html`${profiles.length === 0 ? html`<${FirstProfile} />` : html`<div class="cards">${profiles.map((one) => html`<${Card} key=${one.name} one=${one} />`)}</div>`}
    ${broken.map((one) => html`<p class="notice bad pre" key=${one.file}>${t("broken")} ${one.file}${"\n"}${one.problem}</p>`)}
    <div class="row">${profiles.length > 1 && html`<a class="btn" href="#/write/mix">${t("mix")}</a>`}<a class="btn" href="#/write/learn">${t("from_posts")}</a></div>`;
}

function Portrait({ lines }) {
  return html`<dl class="portrait">${lines.map((line) => html`<div key=${line.label}><dt>${line.label}${line.source && html` <span class="tag">${t("taken_from", { name: line.source })}</span>`}</dt>
    <dd>${line.text}</dd></div>`)}</dl>`;
}

const shown = (value) => (Array.isArray(value) ? value.join("\n") : value === null ? "" : String(value));

function parsed(field, text) {
  if (field.kind === "lines") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (field.kind === "number") return Number(text);
  return text === "" && field.value === null ? null : text;
}

function Input({ field, value, onChange }) {
  const on = (event) => onChange(event.target.value);
  if (field.kind === "language") return html`<select value=${value} onChange=${on}>${["uk", "en", "uk+en"].map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`;
  if (field.kind === "number") return html`<input type="number" min="1" value=${value} onInput=${on} />`;
  return html`<textarea rows=${field.kind === "lines" ? Math.max(2, value.split("\n").length) : 2} value=${value} onInput=${on}></textarea>`;
}

function Preview({ preview, onSave, onBack }) {
  return html`<section class="stack">${preview.changes.length === 0 && html`<p class="notice">${t("nothing_changed")}</p>`}
    ${preview.changes.map((one) => html`<div class="card pad stack" key=${one.path}><h3>${one.label}</h3><div class="two">
      <div><span class="small">${t("old")}</span><p class="text gone">${shown(one.old) || "–"}</p></div>
      <div><span class="small">${t("new")}</span><p class="text come">${shown(one.new) || "–"}</p></div></div></div>`)}
    ${preview.problems.length > 0 && html`<ul class="notice bad broken" role="alert">${preview.problems.map((one) => html`<li key=${one}>${one}</li>`)}</ul>`}
    <div class="row">${preview.changes.length > 0 && preview.problems.length === 0 && html`<button class="btn primary" onClick=${onSave}>
      <${Icon} name="check" />${t("save_changes", { number: preview.version })}</button>`}
      <button class="btn" onClick=${onBack}>${t("edit_again")}</button></div></section>`;
}

function Editor({ profile, onSaved, onBack }) {
  const key = `draft:profile:${profile.name}`;
  const [texts, setTexts] = useState(() => JSON.parse(localStorage.getItem(key) || "{}"));
  const [preview, setPreview] = useState(null);
  const [problem, setProblem] = useState(null);
  const change = (path) => (value) => {
    const now = { ...texts, [path]: value };
    setTexts(now);
    localStorage.setItem(key, JSON.stringify(now)); // a reload loses nothing
  };
  const value = (field) => (field.path in texts ? texts[field.path] : shown(field.value));
  const body = () => ({ base: profile.base, changes: Object.fromEntries(profile.fields.filter((one) => one.path in texts)
    .map((one) => [one.path, parsed(one, texts[one.path])])) });
  const send = (path, then) => async (event) => {
    if (event) event.preventDefault();
    try {
      then(await post(inLang(`/api/desk/profiles/${profile.name}${path}`), body()));
      setProblem(null);
    } catch (failed) {
      setProblem(failed);
    }
  };
  const save = send("", (saved) => {
    localStorage.removeItem(key);
    onSaved(saved);
  });
  if (preview) return html`<${Problem} problem=${problem} /><${Preview} preview=${preview} onSave=${save} onBack=${() => setPreview(null)} />`;
  const groups = [...new Set(profile.fields.map((one) => one.group))];
  return html`<form class="stack" onSubmit=${send("/preview", setPreview)}><${Problem} problem=${problem} />
    ${groups.map((group) => html`<fieldset class="card pad fields" key=${group}><legend>${PLATFORMS[group] || profile.name}</legend>
      ${profile.fields.filter((one) => one.group === group).map((field) => html`<label class="field" key=${field.path}>
        <span>${field.label}${field.kind === "lines" && ` (${t("lines_hint")})`}</span>
        <${Input} field=${field} value=${value(field)} onChange=${change(field.path)} /></label>`)}</fieldset>`)}
    <div class="row"><button class="btn primary">${t("look_first")}</button><button type="button" class="btn" onClick=${onBack}>${t("back")}</button></div></form>`;
}

export function Profile({ name }) {
  const [profile, setProfile] = useState(null);
  const [problem, setProblem] = useState(null);
  const [isEdited, setEdited] = useState(false);
  const lang = desk.value.lang;
  useEffect(() => {
    get(inLang(`/api/desk/profiles/${name}`)).then(setProfile, setProblem);
  }, [name, lang]);
  if (!profile) return problem ? html`<${Problem} problem=${problem} />` : html`<p class="sub" role="status">${t("loading")}</p>`;
  const saved = (now) => {
    setProfile(now);
    setEdited(false);
    loadDesk();
  };
  if (isEdited) return html`<h2>${profile.name}</h2><${Editor} profile=${profile} onSaved=${saved} onBack=${() => setEdited(false)} />`;
  return html`<section class="card pad stack"><div class="row"><h2 class="grow">${profile.name}</h2>
      <span class="tag">${profile.type_name}</span><span class="tag">${t("version", { number: profile.version })}</span>
      <button class="btn small" onClick=${() => setEdited(true)}><${Icon} name="edit" />${t("edit")}</button></div>
    <${Portrait} lines=${profile.portrait} /></section>
    <section class="stack"><h2>${t("examples")}</h2>${profile.examples.map((text, place) => html`<blockquote class="card pad text" key=${place}>${text}</blockquote>`)}</section>
    <section class="stack"><h2>${t("history")}</h2><ul class="list card">${profile.history.map((one) => html`<li class="pad" key=${one.version}>
      <b>${t("version", { number: one.version })}</b> <span class="small">${one.date.slice(0, 10)}</span> ${one.text}</li>`)}</ul></section>`;
}

function Choice({ label, value, onChange }) {
  return html`<label class="field"><span>${label}</span><select value=${value} onChange=${(event) => onChange(event.target.value)}>
    ${desk.value.profiles.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select></label>`;
}

function Mixed() {
  const names = desk.value.profiles.map((one) => one.name);
  const [base, setBase] = useState(names[0]);
  const [techniques, setTechniques] = useState(names[1] || names[0]);
  const [mix, setMix] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    setMix(null);
    if (base && techniques && base !== techniques) get(inLang(`/api/desk/mix?base=${base}&techniques=${techniques}`)).then(setMix, setProblem);
  }, [base, techniques]);
  const write = () => {
    sessionStorage.setItem("desk:base", base);
    sessionStorage.setItem("desk:techniques", techniques);
    location.hash = "#/write";
  };
  return html`<section class="card pad stack"><h2>${t("mix")}</h2><p class="sub">${t("mix_about")}</p>
    <div class="two"><${Choice} label=${t("voice_of")} value=${base} onChange=${setBase} /><${Choice} label=${t("techniques_of")} value=${techniques} onChange=${setTechniques} /></div>
    <${Problem} problem=${problem} />${mix && html`<${Portrait} lines=${mix.portrait} />
    <div><button class="btn primary" onClick=${write}>${t("write_with")}</button></div>`}</section>`;
}

function Learn() {
  const [posts, setPosts] = useState(localStorage.getItem("draft:learn") || "");
  const [name, setName] = useState(desk.value.profiles.length ? "" : "default");
  const [model, setModel] = useState("");
  const [found, setFound] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const send = (work) => async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await work();
      setProblem(null);
    } catch (failed) {
      setProblem(failed);
    } finally {
      setBusy(false);
    }
  };
  const analyse = send(async () => setFound(await post(inLang("/api/desk/analyses"), { name, posts, model: model || null })));
  const save = send(async () => {
    await post(inLang("/api/desk/profiles"), { name, draft: found.draft });
    localStorage.removeItem("draft:learn");
    await loadDesk();
    location.hash = `#/write/profile/${name}`;
  });
  return html`<form class="card pad stack" onSubmit=${analyse}><h2>${t("from_posts")}</h2><p class="sub">${t("from_posts_about")}</p>
    <label class="field"><span>${t("profile_name")} (${t("name_hint")})</span><input type="text" required value=${name} onInput=${(event) => setName(event.target.value)} /></label>
    <label class="field"><span>${t("from_posts_label")}</span><textarea rows="10" required value=${posts} onInput=${(event) => {
      setPosts(event.target.value);
      localStorage.setItem("draft:learn", event.target.value);
    }}></textarea></label>
    <label class="field"><span>${t("model")}</span><input type="text" value=${model} placeholder=${desk.value.model || t("model_hint")} onInput=${(event) => setModel(event.target.value)} /></label>
    <${Problem} problem=${problem} />
    <div class="row"><button class=${`btn${found ? "" : " primary"}`} disabled=${isBusy || !posts.trim() || !name}>${t("analyse")}</button>
      <span class="small" role="status">${isBusy && t("analysing")}</span></div>
    ${found && html`${found.notes.map((note) => html`<p class="notice" key=${note}>${note}</p>`)}<${Portrait} lines=${found.portrait} />
      <div><button type="button" class="btn primary" disabled=${isBusy} onClick=${save}><${Icon} name="check" />${t("save_profile")}</button></div>`}</form>`;
}

export const Mix = ({ isLearning }) => (isLearning ? html`<${Learn} />` : html`<${Mixed} />`);
