// The steno command: proxies that live until they are ended, and commands that read. Each has a time limit.
import { spawn } from "node:child_process";

const running = new Set();

export class Steno {
  constructor({ binary, data, env }) { Object.assign(this, { binary, data, env }); }

  /** proxy gives {url, end} once the proxy says where it listens. */
  async proxy(upstream) {
    const { heard, end } = await this.live(["proxy", "--listen", "127.0.0.1:0", "--upstream", upstream, "--peer", "orders"],
      (said) => said.match(/http:\/\/127\.0\.0\.1:\d+/g)?.find((url) => url !== upstream));
    return { url: heard, end };
  }

  /** up holds the directory, so that commands need not start all that they need; it gives {end}. */
  up() { return this.live(["up", "--listen", "off"], (said) => said.includes("steno up: data in ")); }

  /** live starts a command that lives until its end is called, and waits until hear finds something in its stderr. */
  async live(args, hear) {
    let found;
    const heard = new Promise((resolve) => { found = resolve; });
    const child = this.start(args, (said) => { const it = hear(said); if (it) found(it); });
    const gone = child.ended.then((status) => { throw new Error(`steno ${args[0]} has ended with ${status}:\n${child.said()}`); });
    gone.catch(() => {}); // it is meant to end later
    return { heard: await Promise.race([heard, gone]), end: child.end };
  }

  start(args, hears = () => {}) {
    const child = spawn(this.binary, [...args, "--data", this.data], { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    let said = "", out = "";
    child.stdout.on("data", (chunk) => { out += chunk; });
    child.stderr.on("data", (chunk) => { said += chunk; hears(said); });
    const ended = new Promise((resolve, reject) => {
      child.on("error", (cause) => reject(new Error(`start steno ${args[0]}: ${cause.message}`)));
      child.on("close", (code, signal) => { running.delete(child); resolve(code ?? signal); });
    });
    const within = async (seconds) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
      const status = await ended.finally(() => clearTimeout(timer));
      if (status !== 0) throw new Error(`steno ${args.join(" ")}: ended with ${status}\n${said}`);
      return out;
    };
    return { ended, within, said: () => said, end: () => { child.kill("SIGTERM"); return within(30); } };
  }

  /** lines are the JSON lines that a reading command prints. */
  async lines(...args) {
    const out = await this.start([...args, "--json"]).within(60);
    return out.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }
}

/** endAll ends what still runs. */
export const endAll = () => { for (const child of running) child.kill("SIGKILL"); };
