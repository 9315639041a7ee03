// Commands with a time limit. Each gets a process group of its own, and is ended by its id.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const running = new Set();
let over = false;

/**
 * run gives the bytes of stdout and stderr, and fails unless the command ends with the status within the
 * limit (in seconds). stop = { when, signal } sends it a signal once when() holds.
 */
export function run(argv, { limit, status = 0, stop, ...options }) {
  return new Promise((resolve, reject) => {
    if (over) return reject(new Error(`${argv[0]} is not started any more`));
    const child = spawn(argv[0], argv.slice(1), { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    running.add(child);
    const out = [], err = [];
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.on("data", (chunk) => err.push(chunk));
    let late = false;
    const timer = setTimeout(() => { late = true; endGroup(child.pid); }, limit * 1000);
    const watch = stop && setInterval(() => { if (stop.when()) { clearInterval(watch); child.kill(stop.signal); } }, 20);
    const done = () => { clearTimeout(timer); clearInterval(watch); running.delete(child); };
    child.on("error", (cause) => { done(); reject(new Error(`start ${argv[0]}: ${cause.message}`)); });
    child.on("close", (code, signal) => {
      done();
      const said = { out: Buffer.concat(out), err: Buffer.concat(err) };
      if (code === status && !late) return resolve(said);
      const why = late ? `not done after ${limit} s` : `ended with ${code ?? signal}`;
      reject(new Error(`${argv.join(" ")}: ${why}\n${said.err}${said.out}`));
    });
  });
}

/** endAll ends what still runs: commands, and what the tees whose logs are in dir have started. Nothing starts after it. */
export function endAll(dir) {
  over = true;
  for (const child of running) endGroup(child.pid);
  for (const log of readdirSync(dir).filter((name) => name.endsWith(".tee"))) {
    const text = readFileSync(join(dir, log), "utf8");
    if (text.includes('{"exit"')) continue;
    for (const pid of JSON.parse(text.split("\n")[0] || '{"pids":[]}').pids) kill(pid);
  }
}

const endGroup = (pid) => kill(-pid);

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (err) {
    if (err.code !== "ESRCH") throw err; // it has ended
  }
}
