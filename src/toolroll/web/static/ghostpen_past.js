// Posts that were saved, with a search among them.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get } from "./api.js";
import { inLang, PLATFORMS, Problem, t } from "./ghostpen.js";

export function Past() {
  const [page, setPage] = useState(null);
  const [words, setWords] = useState("");
  const [platform, setPlatform] = useState("");
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const path = `/api/desk/past?find=${encodeURIComponent(words)}&platform=${platform}`;
    const timer = setTimeout(() => get(inLang(path)).then((found) => {
      setPage(found);
      setProblem(null);
    }, setProblem), 150);
    return () => clearTimeout(timer);
  }, [words, platform]);
  return html`<div class="row"><label class="grow"><span class="sr">${t("find_posts")}</span><input type="search" value=${words} placeholder=${t("find_posts")}
      onInput=${(event) => setWords(event.target.value)} /></label>
    <label><span class="sr">${t("platform")}</span><select value=${platform} onChange=${(event) => setPlatform(event.target.value)}>
      <option value="">${t("all_platforms")}</option>${Object.entries(PLATFORMS).map(([one, name]) => html`<option key=${one} value=${one}>${name}</option>`)}</select></label></div>
    <${Problem} problem=${problem} />
    ${page && words && html`<p class="small" role="status">${t("past_total", { count: page.total })}</p>`}
    <div class="card">${!page ? html`<p class="empty" role="status">${t("loading")}</p>`
      : page.posts.length === 0 ? html`<p class="empty">${t(words || platform ? "past_none" : "past_empty")}</p>`
      : html`<ul class="list">${page.posts.map((one) => html`<li key=${one.file}><details class="past"><summary>
          <span class="title">${one.topic || one.file}</span><span class="tag">${PLATFORMS[one.platform] || one.platform}</span>
          <span class="small">${one.created.slice(0, 10)} ${one.profile}</span></summary>
          <p class="text pad">${one.text}</p></details></li>`)}</ul>`}</div>`;
}
