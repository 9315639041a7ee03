// steno run with the example agent: a run for each policy, one that is stopped, and what is refused.
import assert from "node:assert/strict";
import { hasSaid, messages, readTee } from "./bytes.mjs";
import { run } from "./process.mjs";
import { isComplete } from "./transcript.mjs";

const lines = (text) => text.split("\n").filter(Boolean);
const read = ["call_1 streaming", "call_1 completed", "call_2 streaming", "call_2 waiting_confirmation"];
const allowed = [...read, "call_2 executing", "call_2 completed"], denied = [...read, "call_2 cancelled"];
const end = { status: 0, reason: "end_turn", stops: ["EndTurn"], calls: 2 };
const runs = [
  // The agent offers "allow once" and "reject once": nothing grants it more than once.
  { policy: "deny", ...end, decisions: ["reject"], chunks: 3, results: 1, phases: denied },
  { policy: "allow-once", ...end, decisions: ["allow"], chunks: 3, results: 2, phases: allowed },
  { policy: "allow-always", ...end, decisions: ["allow"], chunks: 3, results: 2, phases: allowed },
  {
    policy: "deny", stopAt: '"tool_call"', status: 1, reason: "cancelled", stops: ["Cancelled"], calls: 1, decisions: [], chunks: 1, results: 0,
    phases: ["call_1 streaming", "call_1 cancelled"],
  },
];

/** proveRuns starts them all at the same time, into one data directory of their own. */
export async function proveRuns({ steno, agent, tee, at, env, say }) {
  const data = at("data-runs"), cwd = at("work-runs");
  const command = async (...args) => (await run([steno, ...args, "--data", data], { limit: 120, env, cwd })).out.toString("utf8");
  const printed = await Promise.all(
    runs.map(async (r, i) => {
      const argv = [steno, "run", "--data", data, "--workflow", `run-${i}`, "--prompt", "Tidy the mill.", "--permissions", r.policy, "--", ...tee(`run-${i}`, agent)];
      const stop = r.stopAt && { when: () => hasSaid(at(`run-${i}.tee`), r.stopAt), signal: "SIGTERM" };
      const said = await run(argv, { limit: 90, env, cwd, status: r.status, stop });
      return JSON.parse(said.out.toString("utf8"));
    }),
  );
  const listed = lines(await command("ls", "--json")).map((line) => JSON.parse(line));
  for (const [i, r] of runs.entries()) {
    const wire = messages(readTee(at(`run-${i}.tee`))), result = printed[i];
    const t = listed.find(({ key }) => key === result.transcript);
    assert.deepEqual([t.status, t.unaccounted, t.dialect, t.cwd, t.session_id], ["ended", 0, "1", cwd, result.session_id], t.key);
    const events = lines(await command("show", "--json", t.key)).map((line) => JSON.parse(line));
    isComplete(events, wire, { ...r, prompts: ["Tidy the mill."] });
    const policies = events.filter((e) => e.kind.source?.endsWith("/decision")).map((e) => e.kind.value.policy);
    assert.deepEqual(policies, r.decisions.map(() => r.policy.replaceAll("-", "_")));
    const answers = events.filter((e) => e.kind.kind === "Message" && e.kind.role.role === "Assistant").map((e) => e.kind.text);
    assert.deepEqual(
      [result.text, result.final_message, result.stop_reason, result.error],
      [answers.join(""), answers.at(-1), r.reason, undefined],
    );
    say(`run --permissions ${r.policy}: ${r.reason}, ${events.length} events, complete`);
  }
  const verdict = lines(await command("verify")).at(-1);
  assert.match(verdict, / 0 unaccounted$/);
  await refused({ steno, at, env, cwd, data });
  say("run: an agent that crashes ends with 1, one that is not there with 69");
}

/** refused tries what ends at once, and what does not start. */
async function refused({ steno, at, env, cwd, data }) {
  const ask = (...command) => [steno, "run", "--data", data, "--prompt", "x", "--permissions", "deny", "--", ...command];
  const crashed = JSON.parse((await run(ask(process.execPath, at("no-such-agent.js")), { limit: 60, env, cwd, status: 1 })).out.toString("utf8"));
  assert.match(crashed.error, /^the agent ended before it answered initialize with status 1$/);
  await run(ask(at("no-such-agent")), { limit: 60, env, cwd, status: 69 });
}
