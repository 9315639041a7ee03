// steno run with an agent of version 2: allowed, denied, stopped, and refused by a client of version 1 alone.
import assert from "node:assert/strict";
import { hasSaid } from "./bytes.mjs";
import { run } from "./process.mjs";

const lines = (text) => text.split("\n").filter(Boolean);
const waits = ["t1 streaming", "t1 waiting_confirmation"];
const runs = [
  { flags: ["--permissions", "allow-once"], prompt: "go", status: 0, text: "I look. It is done.", final: "It is done.", reason: "end_turn", stop: "EndTurn", decided: ["allow_once y"], phases: [...waits, "t1 executing", "t1 completed"] },
  { flags: ["--permissions", "deny"], prompt: "go", status: 0, text: "I look. I may not.", final: "I may not.", reason: "end_turn", stop: "EndTurn", decided: ["deny n"], phases: [...waits, "t1 cancelled"] },
  { flags: ["--permissions", "deny"], prompt: "wait", stopAt: "t1", status: 1, text: "I look. ", final: "I look. ", reason: "cancelled", stop: "Cancelled", decided: [], phases: ["t1 streaming", "t1 cancelled"] },
];

/** proveRuns2 starts them all at the same time, into one data directory of their own. */
export async function proveRuns2({ steno, agent, tee, at, env, say }) {
  const data = at("data-runs2"), cwd = at("work-runs");
  const command = async (...args) => (await run([steno, ...args, "--data", data], { limit: 120, env, cwd })).out.toString("utf8");
  const start = async (i, { flags, prompt, status, stopAt }) => {
    const argv = [steno, "run", "--data", data, "--prompt", prompt, ...flags, "--", ...tee(`run2-${i}`, agent)];
    const stop = stopAt && { when: () => hasSaid(at(`run2-${i}.tee`), stopAt), signal: "SIGTERM" };
    return JSON.parse((await run(argv, { limit: 90, env, cwd, status, stop })).out.toString("utf8"));
  };
  const printed = await Promise.all(runs.map((r, i) => start(i, r)));
  const listed = lines(await command("ls", "--json")).map((line) => JSON.parse(line));
  for (const [i, r] of runs.entries()) {
    const result = printed[i];
    assert.deepEqual([result.text, result.final_message, result.stop_reason, result.error], [r.text, r.final, r.reason, undefined]);
    const t = listed.find(({ key }) => key === result.transcript);
    assert.deepEqual([t.status, t.unaccounted, t.dialect, t.session_id], ["ended", 0, "2", result.session_id], t.key);
    const kinds = lines(await command("show", "--json", t.key)).map((line) => JSON.parse(line).kind);
    const of = (kind) => kinds.filter((k) => k.kind === kind);
    assert.deepEqual(of("Message").filter((m) => m.role.role === "User").map((m) => m.text), [r.prompt], "the echo of the prompt is none of its own");
    assert.equal(of("Message").filter((m) => m.role.role === "Assistant").map((m) => m.text).join(""), r.text);
    assert.deepEqual(of("Stop").map((k) => k.reason.stop), [r.stop]);
    assert.deepEqual(of("ToolState").map((k) => `${k.tool.toolId} ${k.tool.state.phase}`), r.phases);
    const decisions = of("Raw").filter((k) => k.source === "session/request_permission/decision");
    assert.deepEqual(decisions.map(({ value }) => `${value.policy} ${value.outcome.optionId}`), r.decided);
    say(`run of version 2, ${r.flags.join(" ")}: ${r.reason}, complete`);
  }
  const old = await start("old", { flags: ["--permissions", "deny", "--acp-version", "1"], prompt: "go", status: 1 });
  assert.equal(old.error, "protocol version mismatch: this client speaks version 1, the agent supports [2]");
  assert.match(lines(await command("verify")).at(-1), / 0 unaccounted$/);
  say("run: an agent of version 2 refuses version 1, and the refusal names both");
}
