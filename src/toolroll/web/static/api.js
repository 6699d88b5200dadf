// Requests to the server. An error is a Problem with a sentence for the person.

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

async function send(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem(0, "unreachable", "The server does not answer. Is 'toolroll serve' still running?");
  }
  const isJson = (answer.headers.get("content-type") || "").includes("json");
  const content = isJson ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  throw new Problem(answer.status, content.code || "refused", content.detail || "The server refused this.");
}

export const get = (path) => send("GET", path);
export const post = (path, body = {}) => send("POST", path, body);

// The link carries the token behind '#', which no server and no log sees. It is exchanged once for a cookie.
export async function openSession() {
  const found = /^#token=([\w-]+)(?:&at=([\w/-]*))?$/.exec(location.hash);
  if (found) {
    await post("/api/session", { token: found[1] });
    history.replaceState(null, "", `#/${found[2] || ""}`);
  }
  return Boolean(found);
}
