// tee.mjs LOG -- COMMAND ARGS…: starts the command, stands between it and whoever started this, and
// changes nothing. Every chunk is in LOG before it is passed on, one JSON line a chunk in the order of
// arrival: {"from":"client|agent|stderr","b64":…}. The first line has the process ids, the last one how
// the command ended.
import { spawn } from "node:child_process";
import { openSync, writeSync } from "node:fs";

const [log, dashes, command, ...args] = process.argv.slice(2);
if (dashes !== "--" || !command) throw new Error("usage: tee.mjs LOG -- COMMAND ARGS…");
const file = openSync(log, "ax", 0o600);
const write = (line) => writeSync(file, JSON.stringify(line) + "\n");

const child = spawn(command, args, { stdio: "pipe" });
write({ pids: [process.pid, child.pid] });

function pass(from, source, sink) {
  source.on("data", (chunk) => {
    write({ from, b64: chunk.toString("base64") });
    sink.write(chunk);
  });
  sink.on("error", (err) => write({ from, error: err.message }));
}
pass("client", process.stdin, child.stdin);
pass("agent", child.stdout, process.stdout);
pass("stderr", child.stderr, process.stderr);
process.stdin.on("end", () => child.stdin.end());

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  write({ error: err.message });
  process.exit(127);
});
child.on("close", (code, signal) => {
  write({ exit: { code, signal } });
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
