// steno cancel while the example agent answers a client through steno record: it reaches the agent, which ends its turn,
// and the transcript shows who did it, and when.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasSaid, messages, readTee, sessionID } from "./bytes.mjs";
import { run } from "./process.mjs";
import { kept, said } from "./transcript.mjs";

const lines = (text) => text.split("\n").filter(Boolean);
const prompt = "Tidy the mill.", reason = "the wrong mill";

/** until waits for what holds, or does not within a minute. */
async function until(what, holds) {
  for (const began = Date.now(); !(await holds()); await sleep(20)) assert.ok(Date.now() - began < 60_000, `${what}: not within a minute`);
}

/** proveCancel has a data directory of its own, and a steno up on it, over which the tap is reached. */
export async function proveCancel({ steno, agent, tee, at, env, say }) {
  const data = at("data-cancel"), cwd = at("work-runs");
  const command = async (...args) => (await run([steno, ...args, "--data", data], { limit: 60, env, cwd })).out.toString("utf8");
  let over = false;
  const up = run([steno, "up", "--data", data, "--listen", "off"], { limit: 180, env, cwd, stop: { when: () => over, signal: "SIGTERM" } });
  try {
    await Promise.race([up, until("steno up holds its directory", () => existsSync(join(data, "holder.json")))]);
    const tap = [steno, "record", "--data", data, "--workflow", "cancel", "--", ...tee("cancel-inner", agent)];
    const client = run([process.execPath, at("turn.mjs"), prompt, ...tee("cancel-outer", tap)], { limit: 90, env, cwd });
    const [cancelled] = await Promise.all([cancel(command, at), client]);
    const printed = lines((await client).out.toString("utf8")).map((line) => JSON.parse(line));
    assert.equal(printed[0].sessionUpdate, "agent_message_chunk", "it was answering");
    assert.equal(printed.at(-1), "cancelled", "the agent has ended its turn, and its client knows");
    reached(at);
    await shown(command, at, cancelled);
    assert.match(lines(await command("verify")).at(-1), / 0 unaccounted$/);
  } finally {
    over = true;
    await up;
  }
  say("record: steno cancel reaches the agent in the middle of its answer, and the transcript shows who did it, and when");
}

/** cancel waits for the first piece of the answer, and for the session's name in the list. */
async function cancel(command, at) {
  await until("the agent answers", () => hasSaid(at("cancel-outer.tee"), "agent_message_chunk"));
  let session;
  await until("the session is listed", async () => {
    session = lines(await command("ls", "--json")).map((line) => JSON.parse(line)).find((t) => t.session_id);
    return session;
  });
  const from = Date.now();
  const outcome = JSON.parse(await command("cancel", session.key, "--reason", reason, "--json"));
  assert.deepEqual([outcome.transcript, outcome.outcome], [session.key, "Applied"]);
  return { id: outcome.id, key: session.key, from, to: Date.now() };
}

/** reached holds what the agent got against what its client said: one line more, between two of the client's. */
function reached(at) {
  const inner = readTee(at("cancel-inner.tee")), outer = readTee(at("cancel-outer.tee"));
  const from = (tee) => tee.lines.filter((l) => l.from === "client").map((l) => l.bytes.toString("utf8"));
  const ours = JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: sessionID(outer) } });
  assert.deepEqual(from(inner).filter((l) => l === ours), [ours]);
  assert.deepEqual(from(inner).filter((l) => l !== ours), from(outer));
  assert.ok(inner.agent.equals(outer.agent), "what the agent says passes as ever");
}

async function shown(command, at, { id, key, from, to }) {
  const events = lines(await command("show", "--json", key)).map((line) => JSON.parse(line));
  const wire = said(messages(readTee(at("cancel-outer.tee")))), have = kept(events);
  assert.deepEqual([have.prompts, have.answers.join(""), have.stops], [[prompt], wire.chunks.join(""), ["Cancelled"]]);
  const by = userInfo().username.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, 64);
  const [done, ...more] = events.filter((e) => e.kind.source === "acp/intervention");
  assert.deepEqual(more, []);
  const { issued_by, issued_at, kind } = done.kind.value;
  assert.deepEqual([done.kind.value.id, issued_by, kind], [id, by, { kind: "Cancel", reason }]);
  for (const time of [issued_at, done.emitted_at].map(Date.parse)) assert.ok(from <= time + 1 && time <= to, `${time} is not when it was done`);
  const [note] = events.filter((e) => e.agent_role === "operator" && e.kind.kind === "Progress");
  assert.equal(note.kind.detail.text, `cancel by ${by}: ${reason}`);
  const stop = events.find((e) => e.kind.kind === "Stop");
  assert.ok(note.worker_seq < stop.worker_seq, "first it is cancelled, then it ends");
}
