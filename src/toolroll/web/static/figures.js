// Figures over all runs: what was used, by day, by model and by tool.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get } from "./api.js";
import { Bars, Columns } from "./charts.js";
import { money, took, tokens } from "./format.js";

const SPANS = [7, 30, 90];
const count = (value) => value.toLocaleString("en");

export function Figures() {
  const [days, setDays] = useState(30);
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    get(`/api/figures?days=${days}`).then(setFound, setProblem);
  }, [days]);
  if (problem) return html`<div class="page"><p class="notice bad" role="alert">${problem.message}</p></div>`;
  if (!found) return html`<div class="page"><p class="sub" role="status">Loading …</p></div>`;
  const sum = (name) => found.days.reduce((all, day) => all + day[name], 0);
  const calls = found.tools.reduce((all, tool) => all + tool.calls, 0);
  const unpriced = found.models.reduce((all, model) => all + model.unpriced, 0);
  const perDay = (name) => found.days.map((day) => ({ day: day.day, value: day[name] }));
  const slow = found.tools.filter((tool) => tool.slow_ms !== null).sort((a, b) => b.slow_ms - a.slow_ms).slice(0, 10);
  return html`<div class="page wide">
    <header><div class="head"><h1 class="grow">Figures</h1>
      <div class="tabs" role="group" aria-label="Days">${SPANS.map((one) => html`<button aria-pressed=${one === days} onClick=${() => setDays(one)}>${one} days</button>`)}</div></div>
      <p class="sub">Over all runs of the last ${days} days, those of the terminal too.</p></header>
    <div class="tiles">
      <div class="card tile"><span class="small">Runs</span><b>${count(found.runs)}</b></div>
      <div class="card tile"><span class="small">Steps</span><b>${count(sum("steps"))}</b></div>
      <div class="card tile"><span class="small">Calls</span><b>${count(calls)}</b></div>
      <div class="card tile"><span class="small">Tokens</span><b>${tokens(sum("tokens"))}</b></div>
      <div class="card tile"><span class="small">Cost</span><b>${unpriced && !sum("cost") ? "–" : money(sum("cost"))}</b></div>
    </div>
    ${unpriced > 0 && html`<p class="small">The price of ${count(unpriced)} steps is not known: they are not in the cost.</p>`}
    <div class="columns">
      <${Columns} title="Tokens by day" days=${perDay("tokens")} format=${tokens} />
      ${sum("cost") > 0 && html`<${Columns} title="Cost by day" days=${perDay("cost")} format=${money} look="b2" />`}
      <${Columns} title="Steps by day" days=${perDay("steps")} format=${count} look="b3" />
    </div>
    <div class="columns">
      <${Bars} title="Calls by tool" rows=${found.tools.slice(0, 10).map((one) => ({ label: one.name, value: one.calls, look: "b3",
        shown: `${count(one.calls)}${one.failures ? `, ${count(one.failures)} failed` : ""}` }))} />
      <${Bars} title="Slow calls: 95 of 100 are faster" rows=${slow.map((one) => ({ label: one.name, value: one.slow_ms, shown: took(one.slow_ms), look: "b5" }))} />
      <${Bars} title="Tokens by model" rows=${found.models.slice(0, 10).map((one) => ({ label: one.name, value: one.input_tokens + one.output_tokens,
        shown: `${tokens(one.input_tokens + one.output_tokens)}${one.cost ? `, ${money(one.cost)}` : ""}` }))} />
    </div>
    ${!sum("steps") && html`<div class="card"><p class="empty">Nothing was run in these days.</p></div>`}
  </div>`;
}
