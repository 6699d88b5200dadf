// A client made with the SDKs in TypeScript: lists the tools, makes the calls that it is given, answers the questions,
// and reads a resource. Usage: client.mjs sdk|client '{"stdio": [...] | "url": ..., "token": ..., "calls": [...]}'
const [kind, text] = process.argv.slice(2);
const given = JSON.parse(text);
const isOld = kind === "sdk";
const { Client, ...http } = isOld
  ? { ...(await import("@modelcontextprotocol/sdk/client/index.js")), ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")) }
  : await import("@modelcontextprotocol/client");
const { StdioClientTransport } = await import(isOld ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
const options = { capabilities: { elicitation: {} } };
if (!isOld) options.versionNegotiation = { mode: { pin: "2026-07-28" } };
const client = new Client({ name: kind, version: "1" }, options);
const questions = [];
const answer = (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { allow: given.allow } };
};
if (isOld) {
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client.setRequestHandler(ElicitRequestSchema, answer);
} else {
  client.setRequestHandler("elicitation/create", answer);
}
const [command, ...args] = given.stdio ?? [];
const transport = given.stdio
  ? new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" })
  : new http.StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers: { Authorization: `Bearer ${given.token}` } } });
await client.connect(transport);
const { tools } = await client.listTools();
const results = {};
for (const [name, input] of given.calls) results[name] = await client.callTool({ name, arguments: input });
const { resources } = await client.listResources();
const read = await client.readResource({ uri: given.read });
await client.close();
console.log(JSON.stringify({ tools, results, questions, resources, read }));
