// One post: what was said, the draft as each platform shows it, its versions beside each other, feedback, and the end.
import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { desk, inLang, PLATFORMS, Problem, stateOfPost, t } from "./ghostpen.js";
import { Icon } from "./icons.js";
import { listen } from "./news.js";
import { compareWords } from "./words.js";

function usePost(id) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  const [writing, setWriting] = useState("");
  const state = useRef({ writing: "", isLoading: false, isStale: false }).current;
  const load = async () => {
    state.isStale = state.isLoading;
    if (state.isLoading) return;
    state.isLoading = true;
    try {
      do {
        state.isStale = false;
        const now = await get(inLang(`/api/desk/posts/${id}`));
        state.writing = now.writing;
        setFound(now);
        setWriting(now.writing);
        setProblem(null);
      } while (state.isStale);
    } catch (failed) {
      setProblem(failed);
    } finally {
      state.isLoading = false;
    }
  };
  useEffect(() => {
    load();
    return listen((news) => {
      if (news.kind === "reopened" || (news.kind === "changed" && news.chat === `post:${id}`)) load();
      if (news.kind !== "text" || news.chat !== `post:${id}`) return;
      if (news.at > state.writing.length) load(); // a piece is missing
      else setWriting((state.writing = state.writing.slice(0, news.at) + news.text));
    });
  }, [id]);
  return { found, problem, writing, load };
}

function Parts({ parts }) {
  return parts.map((part, place) => (part.mark
    ? html`<mark key=${place} class=${part.mark} title=${part.note || undefined}>${part.text}</mark>`
    : html`<span key=${place}>${part.text}</span>`));
}

function Counter({ look }) {
  const share = Math.min(1, look.length / look.limit);
  const over = look.length - look.limit;
  return html`<div class=${`counter${over > 0 ? " over" : ""}`}>
    <svg viewBox="0 0 36 36" aria-hidden="true"><circle cx="18" cy="18" r="15" /><circle class="arc" cx="18" cy="18" r="15"
      stroke-dasharray=${`${share * 94.25} 94.25`} transform="rotate(-90 18 18)" /></svg>
    <span>${t("counter", { length: look.length.toLocaleString(), limit: look.limit.toLocaleString() })}${over > 0 && `, ${t("over_by", { count: over })}`}</span></div>`;
}

// The post as it would stand in a feed: folded where the platform folds it, with what breaks a rule marked.
export function Look({ look, author }) {
  const [isOpen, setOpen] = useState(false);
  const hidden = look.parts.some((part) => part.is_folded && part.text.trim());
  const shown = isOpen ? look.parts : look.parts.filter((part) => !part.is_folded);
  const text = html`<p class="text"><${Parts} parts=${shown} />${hidden && html`<button type="button" class="fold"
    onClick=${() => setOpen(!isOpen)}>${t(isOpen ? "see_less" : "see_more")}</button>`}</p>`;
  const letter = (author[0] || "?").toUpperCase();
  const head = html`<div class="who"><span class="face" aria-hidden="true">${letter}</span><span><b>${author}</b>
    <span class="small">${look.platform === "x" ? `@${author}` : PLATFORMS[look.platform]}</span></span></div>`;
  return html`<article class=${`look ${look.platform}`} aria-label=${PLATFORMS[look.platform]}>
    ${head}${look.platform === "instagram" && html`<div class="picture" aria-hidden="true"><${Icon} name="image" /></div>`}
    ${text}<div class="bar" aria-hidden="true"><i></i><i></i><i></i></div></article>`;
}

function Looks({ draft, platform, author }) {
  const [chosen, setChosen] = useState(platform);
  const look = draft.looks.find((one) => one.platform === chosen);
  return html`<section class="stack" aria-label=${t("looks")}>
    <div class="row" role="group" aria-label=${t("looks")}>${draft.looks.map((one) => html`<button key=${one.platform} class="btn small"
      aria-pressed=${one.platform === chosen} onClick=${() => setChosen(one.platform)}>${PLATFORMS[one.platform]}
      ${one.notes.length > 0 && html`<span class="badge" aria-label=${one.notes.join(" ")}>${one.notes.length}</span>`}</button>`)}
      <span class="grow"></span><${Counter} look=${look} /></div>
    <${Look} key=${`${draft.number}${chosen}`} look=${look} author=${author} />
    ${look.notes.length ? html`<ul class="broken">${look.notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`
      : html`<p class="small good"><${Icon} name="check" />${t("clean")}</p>`}
  </section>`;
}

function Compared({ before, after }) {
  const [old, now] = compareWords(before.text, after.text);
  const side = (draft, pieces, look) => html`<div class="card pad"><h3>${t("draft", { number: draft.number })}</h3>
    <p class="text">${pieces.map((piece, place) => (piece.isSame ? html`<span key=${place}>${piece.text}</span>`
      : html`<mark key=${place} class=${look}>${piece.text}</mark>`))}</p></div>`;
  return html`<section class="two" aria-label=${t("compare_with", { number: before.number, other: after.number })}>
    ${side(before, old, "gone")}${side(after, now, "come")}</section>`;
}

function Versions({ found }) {
  const last = found.versions.length - 1;
  const [chosen, setChosen] = useState(null); // null: the newest, also when another one comes
  const [isCompared, setCompared] = useState(false);
  const place = chosen === null ? last : Math.min(chosen, last);
  const draft = found.versions[place];
  return html`<div class="stack">
    <div class="row" role="group" aria-label=${t("drafts")}>${found.versions.map((one, number) => html`<button key=${one.number} class="btn small"
      aria-pressed=${number === place} onClick=${() => setChosen(number === last ? null : number)}>${t("draft", { number: one.number })}</button>`)}
      ${last > 0 && html`<button class="btn small" aria-pressed=${isCompared} onClick=${() => setCompared(!isCompared)}>${t("compare")}</button>`}</div>
    ${isCompared && (place > 0 ? html`<${Compared} before=${found.versions[place - 1]} after=${draft} />` : html`<p class="small">${t("first_version")}</p>`)}
    ${!isCompared && html`<${Looks} draft=${draft} platform=${found.platform} author=${found.profile.split(" + ")[0]} />`}
  </div>`;
}

function lineLook(line) {
  if (line.startsWith("+ ")) return "come";
  return line.startsWith("- ") ? "gone" : "";
}

// A question about a call. What is shown is what the answer is bound to, to the letter.
function Decision({ question, onAnswer }) {
  const [edited, setEdited] = useState(null);
  const box = useRef(null);
  useEffect(() => {
    if (box.current) box.current.focus();
  }, [question.digest]);
  const answer = (decision) => () => onAnswer({
    call_id: question.call_id, digest: question.digest, decision, edited: decision === "approve" ? edited : null,
  });
  return html`<section class="ask" ref=${box} tabindex="-1" aria-label=${question.question}>
    <header><h2>${question.question}</h2>${question.why && html`<p>${question.why}</p>`}</header>
    <div class="body">${edited === null
      ? html`<pre class="box" tabindex="0">${question.preview.split("\n").map((line, place) => html`<span key=${place} class=${
          question.tool === "update_style_profile" ? lineLook(line) : ""}>${line}${"\n"}</span>`)}</pre>`
      : html`<label class="field"><span>${t("edit_before")}</span><textarea rows="10" value=${edited}
          onInput=${(event) => setEdited(event.target.value)}></textarea></label>`}</div>
    <footer><button class="btn primary" onClick=${answer("approve")}><${Icon} name="check" />${t("yes")}</button>
      <button class="btn" onClick=${answer("reject")}>${t("no")}</button>
      ${question.editable !== null && edited === null && html`<button class="btn" onClick=${() => setEdited(question.editable)}>
        <${Icon} name="edit" />${t("edit_before")}</button>`}</footer></section>`;
}

function Feedback({ id, found, onTell }) {
  const key = `draft:post:${id}`;
  const [text, setText] = useState(() => localStorage.getItem(key) || "");
  const [chosen, setChosen] = useState([]);
  const change = (value) => {
    setText(value);
    localStorage.setItem(key, value);
  };
  const toggle = (name) => () => setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const words = [...chosen.map((name) => desk.value.categories[name]), text.trim()].filter(Boolean).join(". ");
  const send = async (event) => {
    event.preventDefault();
    if (words && (await onTell(words))) {
      change("");
      setChosen([]);
    }
  };
  const isBusy = found.state === "writing" || found.state === "deciding";
  return html`<form class="stack" onSubmit=${send}>
    <fieldset class="chips" disabled=${isBusy}><legend>${t("one_tap")}</legend>${Object.entries(desk.value.categories).map(([name, words]) => html`<button
      type="button" key=${name} class="chip" aria-pressed=${chosen.includes(name)} onClick=${toggle(name)}>${words}</button>`)}</fieldset>
    <label class="field"><span>${t("feedback")}</span><textarea rows="2" value=${text} placeholder=${t("feedback_hint")}
      onInput=${(event) => change(event.target.value)}
      onKeyDown=${(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}></textarea></label>
    <div><button class="btn" disabled=${!words || isBusy}><${Icon} name="send" />${t("send")}</button></div>
  </form>`;
}

function Said({ found, writing }) {
  const box = useRef(null);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [found.lines.length, writing]);
  return html`<div class="saids" ref=${box} tabindex="0" role="log" aria-label=${t("conversation")}><ol>${found.lines.map((line, place) => {
    if (line.kind === "you") return html`<li key=${place} class="said"><span class="sr">${t("you")}: </span>${line.text}</li>`;
    if (line.kind === "draft") return html`<li key=${place}><span class="tag run">${t("draft", { number: line.text })}</span></li>`;
    return html`<li key=${place} class=${line.kind === "note" ? "small" : "pre"}>${line.text}</li>`;
  })}${found.state === "writing" && html`<li class="pre writing"><span class="dot running"></span> ${writing.replace(/<\/?post[^>]*>/g, "") || t("writing_now")}</li>`}</ol></div>`;
}

function End({ found, onAct }) {
  const [isCopied, setCopied] = useState(false);
  const text = found.versions.length ? found.versions[found.versions.length - 1].text : "";
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  const canTalk = found.state === "asking" || found.state === "paused";
  return html`<div class="row actions">
    ${text && found.state !== "ended" && html`<button class="btn primary" disabled=${!canTalk} onClick=${() => onAct("finish", { how: "save" })}><${Icon} name="check" />${t("save")}</button>
      ${desk.value.has_notion && html`<button class="btn" disabled=${!canTalk} onClick=${() => onAct("finish", { how: "notion" })}>${t("save_notion")}</button>`}`}
    ${text && html`<button class="btn" onClick=${copy}>${t("copy")}</button><span class="small" role="status">${isCopied && t("copied")}</span>`}
    ${found.state === "writing" && html`<button class="btn" onClick=${() => onAct("stop")}><${Icon} name="stop" />${t("stop")}</button>`}
    ${found.state === "paused" && html`<button class="btn" onClick=${() => onAct("retry")}>${t(text ? "go_on" : "again")}</button>`}
    ${found.state === "asking" && html`<button class="btn" onClick=${() => onAct("finish", { how: "leave" })}>${t("leave")}</button>`}
  </div>`;
}

export function Post({ id }) {
  const { found, problem, writing, load } = usePost(id);
  const [failed, setFailed] = useState(null);
  const act = async (name, body) => {
    try {
      await post(inLang(`/api/desk/posts/${id}/${name}`), body);
      setFailed(null);
      return true;
    } catch (error) {
      setFailed(error);
      return false;
    } finally {
      load();
    }
  };
  const remove = async () => {
    if (await act("remove")) location.hash = "#/write";
  };
  if (!found) return problem ? html`<${Problem} problem=${problem} />` : html`<p class="sub" role="status">${t("loading")}</p>`;
  const [words, look] = stateOfPost(found);
  return html`<header><div class="row"><a class="btn small" href="#/write">${t("back")}</a><span class=${`tag ${look}`}>${words}</span><span class="grow"></span>
      ${(found.state === "ended" || found.state === "paused") && html`<button class="btn small danger" onClick=${remove}>${t("remove")}</button>`}</div>
    <h1 class="request">${found.request}</h1><p class="sub">${PLATFORMS[found.platform]}, ${found.profile}</p></header>
    <${Problem} problem=${failed} />
    ${found.error && html`<p class="notice bad pre" role="alert">${found.error}</p>`}
    ${found.state === "paused" && !found.error && html`<p class="notice">${t("interrupted")}</p>`}
    ${found.file && html`<p class="notice done" role="status">${t("saved_as", { file: found.file })}</p>`}
    ${found.notion_url && /^https:/.test(found.notion_url) && html`<p><a href=${found.notion_url} rel="noopener noreferrer" target="_blank">${t("saved_to")}</a></p>`}
    ${found.end === "left" && html`<p class="notice">${t("left")}</p>`}
    ${found.question && html`<${Decision} key=${found.question.digest} question=${found.question} onAnswer=${(body) => act("answers", body)} />`}
    <div class="desk">
      <div class="stack">${found.versions.length ? html`<${Versions} found=${found} />` : html`<div class="card pad"><p class="empty" role="status">
        ${found.state === "writing" ? t("writing_now") : t("state_nothing")}</p></div>`}
        <${End} found=${found} onAct=${act} /></div>
      <div class="card pad stack talk"><h2>${t("conversation")}</h2><${Said} found=${found} writing=${writing} />
        ${found.ask === "yes_no" && html`<div class="row"><button class="btn primary" onClick=${() => act("messages", { text: "yes" })}>${t("yes")}</button>
          <button class="btn" onClick=${() => act("messages", { text: "no" })}>${t("no")}</button></div>`}
        ${found.state !== "ended" && found.ask !== "yes_no" && html`<${Feedback} id=${id} found=${found} onTell=${(text) => act("messages", { text })} />`}
        ${found.state === "ended" && html`<a class="btn" href="#/write">${t("write_another")}</a>`}</div>
    </div>`;
}
