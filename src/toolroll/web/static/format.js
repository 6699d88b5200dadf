// Numbers, times and calls in words.

const unit = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 60) return "just now";
  if (past < 3600) return `${unit(Math.floor(past / 60), "minute")} ago`;
  if (past < 86400) return `${unit(Math.floor(past / 3600), "hour")} ago`;
  if (past < 86400 * 14) return `${unit(Math.floor(past / 86400), "day")} ago`;
  return new Date(seconds * 1000).toLocaleDateString();
}

export function took(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export const tokens = (count) => (count < 10000 ? count.toLocaleString("en") : count < 1000000 ? `${Math.round(count / 1000)}k` : `${(count / 1000000).toFixed(1)}M`);
export const money = (cost) => (cost === null ? "" : cost === 0 ? "$0" : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`);
export const folderName = (path) => path.split("/").filter(Boolean).pop() || path;

const STATES = {
  running: ["at work", "run"],
  elsewhere: ["at work elsewhere", "run"],
  open: ["at work", "run"],
  waiting: ["waits for you", "wait"],
  approval_pending: ["waits for you", "wait"],
  idle: ["answered", ""],
  answer: ["answered", ""],
  done: ["done", ""],
  stopped: ["stopped", "bad"],
  interrupted: ["stopped", "bad"],
  failed: ["failed", "bad"],
  dead: ["failed", "bad"],
  condition: ["stopped at a limit", "wait"],
  gave_up: ["given up", "bad"],
  damaged: ["damaged", "bad"],
  queued: ["queued", ""],
  cancelled: ["cancelled", ""],
};
export const stateOf = (state) => STATES[state] || [state.replaceAll("_", " "), ""];

const ENDS = {
  interrupted: "Stopped. What is complete stays; continue, or say what to do next.",
  condition: "Stopped at a limit. Continue if it should go on.",
  failed: "The model could not be asked. Nothing is lost: try again.",
  cut_off: "The answer was cut off by the model's limit.",
  refusal: "The provider or the model refused to answer.",
  repeated_calls: "Stopped, as the model repeated the same call.",
  repeated_failure: "Stopped, as the same call failed again and again.",
  invalid_calls: "Stopped, as the model's calls could not be read.",
  gave_up: "Given up after three attempts that ended early.",
};
// A failure says its reason; the other ends are complete without what is recorded with them.
export const endOf = (reason, detail) => {
  if (reason === "failed") return `${ENDS.failed} ${detail}`;
  return ENDS[reason] || `Ended: ${reason.replaceAll("_", " ")}. ${detail}`;
};

function parse(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

const VERBS = {
  read_file: (a) => ["Read", a.path + (a.offset ? `:${a.offset}` : "")],
  list_files: (a) => ["List", a.path || "."],
  search_files: (a) => ["Search", `${a.pattern}${a.path ? ` in ${a.path}` : ""}`],
  find_files: (a) => ["Find files", a.pattern],
  find_definition: (a) => ["Find definition of", a.symbol],
  find_references: (a) => ["Find uses of", a.symbol],
  find_importers: (a) => ["Find importers of", a.modulePath],
  outline: (a) => ["Outline", a.path],
  repo_map: () => ["Map the project", ""],
  edit: (a) => ["Edit", a.path],
  edit_file: (a) => ["Rewrite", a.path],
  create_file: (a) => ["Create", a.path],
  apply_changes: (a) => ["Change", [...new Set((a.changes || []).map((one) => one && one.path))].join(", ")],
  run_check: () => ["Run the check", ""],
  write_todos: () => ["Plan", ""],
};

const ICONS = {
  read_file: "file", list_files: "folder", search_files: "search", find_files: "search", find_definition: "search", find_references: "search",
  find_importers: "fork", outline: "runs", repo_map: "runs", edit: "edit", edit_file: "edit", create_file: "plus", apply_changes: "edit",
  run_check: "terminal", write_todos: "plan", read_todos: "plan",
};
export const callIcon = (name) => ICONS[name] || "tool";

// What a call does, as a verb and its object.
export function callTitle(name, args) {
  const values = parse(args);
  const make = VERBS[name];
  const [verb, object] = make ? make(values) : [name, Object.values(values).find((one) => typeof one === "string")];
  return [verb, typeof object === "string" ? object : ""];
}

export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
