// Real ACP peers, each with and without the tap: run.sh starts this, ../README.md says what it proves.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { captureFile, mask, messages, readTee, sessionID } from "./bytes.mjs";
import { proveCancel } from "./cancels.mjs";
import { endAll, run } from "./process.mjs";
import { prompts } from "./prompts.mjs";
import { proveRuns } from "./runs.mjs";
import { proveRuns2 } from "./runs2.mjs";
import { comparable, isComplete } from "./transcript.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "steno-interop-"));
const at = (...path) => join(dir, ...path);
const data = at("data"), agent = at("node_modules/acp-agent-sdk/dist/examples/agent.js");
const node = process.execPath, steno = process.env.STENO ? resolve(process.env.STENO) : at("steno");

// Nothing of the user's own settings steers steno or the peers, and they leave nothing at home.
const clean = Object.entries(process.env).filter(([name]) => !/^(STENO|ACPX|XDG|NODE)_/.test(name));
const env = { ...Object.fromEntries(clean), HOME: at("home"), NO_COLOR: "1" };

// The states of the tools, turn by turn.
const allowed = ["call_1 streaming", "call_1 completed", "call_2 streaming", "call_2 waiting_confirmation", "call_2 executing", "call_2 completed"];
const refused = ["call_1#2 streaming", "call_1#2 completed", "call_2#2 streaming", "call_2#2 waiting_confirmation", "call_2#2 cancelled"];
const cancelled = ["call_1#3 streaming", "call_1#3 cancelled"];

const peers = [
  {
    name: "acpx",
    client: (command) => [node, at("node_modules/acpx/dist/cli.js"), "--approve-all", "--agent", command.map((word) => JSON.stringify(word)).join(" "), "exec", "hello"],
    prompts: ["hello"], chunks: 3, calls: 2, results: 2, decisions: ["allow"], stops: ["EndTurn"], phases: allowed,
  },
  {
    name: "sdk",
    client: (command) => [node, at("client.mjs"), ...command],
    prompts, chunks: 3 + 3 + 1, calls: 2 + 2 + 1, results: 2 + 1, decisions: ["allow", "reject"], stops: ["EndTurn", "EndTurn", "Cancelled"],
    phases: [...allowed, ...refused, ...cancelled],
  },
];

const say = (what) => console.log(`ok  ${what}`);
const tee = (log, command) => [node, at("tee.mjs"), at(`${log}.tee`), "--", ...command];
const command = async (...args) => (await run([steno, ...args, "--data", data], { limit: 120, env, cwd: dir })).out.toString("utf8");
const lines = (text) => text.split("\n").filter(Boolean);

async function prepare() {
  for (const file of ["package.json", "package-lock.json", "tee.mjs", "client.mjs", "turn.mjs", "agent2.mjs", "prompts.mjs"]) copyFileSync(join(here, file), at(file));
  for (const folder of ["home", "work-runs", ...peers.map((p) => `work-${p.name}`)]) mkdirSync(at(folder));
  // install, not ci: it adds the optional packages of other platforms, which the lock may lack.
  await run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { limit: 300, cwd: dir });
  if (!process.env.STENO) await run(["go", "build", "-o", steno, "./cmd/steno"], { limit: 600, cwd: join(here, "../../..") });
  say("peers installed, steno built");
}

/** converse runs a client against a command and gives what it printed. */
const converse = (peer, agentCommand) => run(peer.client(agentCommand), { limit: 90, env, cwd: at(`work-${peer.name}`) });

async function record(peer) {
  const direct = await converse(peer, tee(`${peer.name}-direct`, [node, agent]));
  const inner = tee(`${peer.name}-inner`, [node, agent]);
  const tap = [steno, "record", "--data", data, "--workflow", peer.name, "--label", `peer=${peer.name}`, "--", ...inner];
  const tapped = await converse(peer, tee(`${peer.name}-outer`, tap));
  return { direct, tapped };
}

/** sameBytes holds both ends of the tap against each other, then the run with the tap against the one without. */
function sameBytes(peer, { direct, tapped }) {
  const [bare, outer, inner] = ["direct", "outer", "inner"].map((side) => readTee(at(`${peer.name}-${side}.tee`)));
  for (const from of ["agent", "client", "stderr"]) {
    assert.ok(outer[from].equals(inner[from]), `${peer.name}: bytes of ${from} differ between the two ends of the tap`);
    assert.ok(mask(outer[from], outer).equals(mask(bare[from], bare)), `${peer.name}: bytes of ${from} differ with the tap and without`);
  }
  for (const stream of ["out", "err"]) {
    assert.equal(mask(tapped[stream], outer).toString("utf8"), mask(direct[stream], bare).toString("utf8"), `${peer.name}: what the client printed`);
  }
  assert.ok(inner.exit && outer.exit, `${peer.name}: the agent and the tap have ended`);
  assert.deepEqual(outer.exit, bare.exit, `${peer.name}: exit status`);
  say(`${peer.name}: ${outer.agent.length} bytes to the client, ${outer.client.length} to the agent: the same on both ends of the tap, and without it`);
  return outer;
}

async function keptWhole(peer, outer, listed) {
  const [connection, session, ...more] = listed.filter((t) => t.labels.peer === peer.name).sort((a, b) => (a.key < b.key ? -1 : 1));
  assert.deepEqual(more, [], `${peer.name}: two transcripts, the connection and the session`);
  for (const t of [connection, session]) assert.deepEqual([t.status, t.unaccounted, t.dialect], ["ended", 0, "1"], t.key);
  assert.equal(connection.frames + session.frames, outer.lines.length + 2, `${peer.name}: a frame a line, open and close`);
  assert.equal(session.session_id, sessionID(outer));
  assert.equal(session.stop, peer.stops.at(-1));
  const shown = {};
  for (const t of [connection, session]) {
    shown[t.key] = lines(await command("show", "--json", t.key));
    assert.equal(shown[t.key].length, t.events, t.key);
  }
  isComplete(shown[session.key].map((line) => JSON.parse(line)), messages(outer), peer);

  // The stored events are also those of the bytes that the client's side saw, translated offline.
  const file = at(`${peer.name}.jsonl`);
  writeFileSync(file, captureFile(outer));
  const run = session.key.split("/")[2];
  const offline = lines(await command("translate", file, "--workflow", peer.name, "--run", run)).filter((line) => !JSON.parse(line).ephemeral);
  const own = (line) => !["acp/open", "acp/close"].includes(JSON.parse(line).kind.source);
  const stored = [...shown[connection.key], ...shown[session.key]];
  const bySession = (a, b) => JSON.parse(a).session - JSON.parse(b).session;
  sameEvents(peer, stored.filter(own).map(comparable), offline.filter(own).sort(bySession).map(comparable));
  say(`${peer.name}: ${session.events} events of ${session.frames} frames: complete, and those of an offline translation of the client's bytes`);
}

function sameEvents(peer, stored, offline) {
  const i = stored.findIndex((line, i) => line !== offline[i]);
  assert.ok(i < 0, `${peer.name}: event ${i + 1} is not that of an offline translation:\nstored  ${stored[i]}\noffline ${offline[i]}`);
  assert.equal(stored.length, offline.length, `${peer.name}: number of events, stored and offline`);
}

async function prove() {
  await prepare();
  const talks = await Promise.all(peers.map(record)); // two taps at once into one directory
  const outer = peers.map((peer, i) => sameBytes(peer, talks[i]));
  const listed = lines(await command("ls", "--json")).map((line) => JSON.parse(line));
  assert.equal(listed.length, 2 * peers.length);
  for (const [i, peer] of peers.entries()) await keptWhole(peer, outer[i], listed);
  const verdict = lines(await command("verify")).at(-1);
  const sum = (field) => listed.reduce((n, t) => n + t[field], 0);
  assert.equal(verdict, `verified: ${sum("frames")} frames, ${sum("events")} events, 0 unaccounted`);
  say(verdict);
  await proveCancel({ steno, agent: [node, agent], tee, at, env, say });
  await proveRuns({ steno, agent: [node, agent], tee, at, env, say });
  await proveRuns2({ steno, agent: [node, at("agent2.mjs")], tee, at, env, say });
}

function clear() {
  endAll(dir);
  if (process.env.KEEP) console.log(`kept ${dir}`);
  else rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { clear(); process.exit(1); });
try {
  await prove();
} catch (err) {
  console.error(`FAILED  ${err.message}`);
  process.exitCode = 1;
} finally {
  clear();
}
