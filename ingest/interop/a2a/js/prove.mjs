// Real A2A peers on the JavaScript SDK, with and without the proxy: run.sh starts this, ../../README.md
// says what it proves. The peers run in a copy of this folder that has the SDK.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { endAll, Steno } from "./steno.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "steno-interop-"));
const at = (...path) => join(dir, ...path);
const binary = process.env.STENO ? resolve(process.env.STENO) : at("steno");

// Nothing of the user's own settings steers steno or npm, and they leave nothing at home.
const clean = Object.entries(process.env).filter(([name]) => !/^(STENO|XDG|NODE)_/.test(name));
const env = { ...Object.fromEntries(clean), HOME: at("home"), NO_COLOR: "1" };

const say = (what) => console.log(`ok  ${what}`);

// What the SDK says of agents that throw stands in a file.
for (const word of ["error", "warn"]) console[word] = (...args) => appendFileSync(at("sdk.log"), `${args.map((a) => a?.stack ?? a).join(" ")}\n`);

function run(command, args, cwd, seconds) {
  const { status, signal, error, stderr, stdout } = spawnSync(command, args, { cwd, env: command === "go" ? process.env : env, encoding: "utf8", timeout: seconds * 1000 });
  if (error || status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `ended with ${status ?? signal}`}\n${stderr}${stdout}`);
}

function prepare() {
  for (const folder of ["home", "data"]) mkdirSync(at(folder));
  for (const file of readdirSync(here).filter((name) => /\.(mjs|json)$/.test(name))) copyFileSync(join(here, file), at(file));
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], dir, 300);
  if (!process.env.STENO) run("go", ["build", "-o", binary, "./cmd/steno"], join(here, "../../../.."), 600);
  say("SDK installed, steno built");
}

async function prove() {
  prepare();
  const module = (name) => import(pathToFileURL(at(name)));
  const [{ serve }, { talk }, { scenarios }, { mask, written }, { told }] =
    await Promise.all(["server.mjs", "client.mjs", "scenarios.mjs", "mask.mjs", "transcript.mjs"].map(module));
  for (const version of ["0.3", "1.0"]) {
    for (const binding of ["JSON-RPC", "REST"]) {
      for (const streaming of [false, true]) {
        const form = { version, binding, streaming }, name = `v${version} ${binding} ${streaming ? "stream" : "send"}`;
        const steno = new Steno({ binary, data: at("data", name.replaceAll(" ", "-")), env });
        const server = await serve(version), proxy = await steno.proxy(server.url);
        for (const scenario of scenarios) {
          const direct = await talk(form, scenario, server.url), proxied = await talk(form, scenario, proxy.url);
          const bare = mask([[server.url, "<agent>"]]), tapped = mask([[proxy.url, "<agent>"], [server.url, "<upstream>"]]);
          assert.equal(written(proxied.exchanges, tapped), written(direct.exchanges, bare), `${name}, ${scenario.name}: the bytes that the client sees`);
          assert.deepEqual(proxied.heard.map(tapped), direct.heard.map(bare), `${name}, ${scenario.name}: what the client's SDK makes of them`);
        }
        await hasTold(steno, name, scenarios.map((s) => s.told(form).join("\n")), told);
        await proxy.end();
        await server.end();
      }
    }
  }
}

/** hasTold requires exactly these transcripts, and that steno verify agrees. */
async function hasTold(steno, name, want, told) {
  const up = await steno.up(), listed = await steno.lines("ls"), got = [];
  for (const t of listed) {
    assert.deepEqual([t.protocol, t.agent, t.unaccounted, t.head], ["a2a", "orders", 0, t.events], `${name}: ${t.key}`);
    if (t.empty) continue; // a card
    const events = (await steno.lines("show", t.key)).filter((line) => !line.takes); // what its connection takes stands behind them
    assert.equal(events.length, t.events, `${name}: ${t.key}`);
    got.push(told(events));
  }
  assert.deepEqual(got.toSorted(), want.toSorted(), `${name}: transcripts`);
  const [verdict] = await steno.lines("verify"), sum = (field) => listed.reduce((n, t) => n + t[field], 0);
  await up.end();
  const { frames, events, unaccounted, gaps, findings } = verdict;
  assert.deepEqual({ frames, events, unaccounted, gaps, findings }, { frames: sum("frames"), events: sum("events"), unaccounted: 0, gaps: 0, findings: [] });
  say(`${name}: ${got.length} conversations as without the proxy; verified: ${frames} frames, ${events} events, 0 unaccounted`);
}

function clear() {
  endAll();
  if (process.env.KEEP) console.log(`kept ${dir}`);
  else rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { clear(); process.exit(1); });
try {
  await prove();
} catch (err) {
  process.stderr.write(`FAILED  ${err.message}\n`);
  process.exitCode = 1;
} finally {
  clear();
}
process.exit(); // servers that a failure has left behind
