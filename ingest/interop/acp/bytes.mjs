// What a tee saw: the bytes of each side, and the lines of the conversation in their order.
import { existsSync, readFileSync } from "node:fs";

/** readTee gives {client, agent, stderr} as bytes, lines [{from, bytes}] in order of their last byte, and exit. */
export function readTee(log) {
  const seen = { client: [], agent: [], stderr: [] }, rest = { client: [], agent: [], stderr: [] };
  const lines = [];
  let exit;
  for (const line of readFileSync(log, "utf8").trimEnd().split("\n").map((text) => JSON.parse(text))) {
    if (line.error) throw new Error(`${log}: ${line.from ?? "command"}: ${line.error}`);
    exit = line.exit ?? exit;
    if (!line.b64) continue;
    let chunk = Buffer.from(line.b64, "base64");
    seen[line.from].push(chunk);
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10)) {
      lines.push({ from: line.from, bytes: Buffer.concat([...rest[line.from].splice(0), chunk.subarray(0, at)]) });
      chunk = chunk.subarray(at + 1);
    }
    if (chunk.length > 0) rest[line.from].push(chunk);
  }
  for (const [from, left] of Object.entries(rest)) {
    if (left.length > 0) throw new Error(`${log}: the last line of ${from} has no LF: ${Buffer.concat(left)}`);
  }
  const bytes = Object.fromEntries(Object.entries(seen).map(([from, chunks]) => [from, Buffer.concat(chunks)]));
  return { ...bytes, lines, exit };
}

/** hasSaid reports whether the agent has said this so far, in one chunk. */
export function hasSaid(log, text) {
  if (!existsSync(log)) return false;
  const whole = readFileSync(log, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
  return whole.some(({ from, b64 }) => from === "agent" && b64 && Buffer.from(b64, "base64").includes(text));
}

/** messages are the lines as JSON. */
export const messages = (tee) => tee.lines.map(({ from, bytes }) => ({ from, ...JSON.parse(bytes.toString("utf8")) }));

/** sessionID is the id that the agent drew for its one session: 32 hexadecimal digits. */
export function sessionID(tee) {
  const ids = messages(tee).map((m) => m.from === "agent" && m.result?.sessionId).filter(Boolean);
  if (ids.length !== 1 || !/^[0-9a-f]{32}$/.test(ids[0])) throw new Error(`want one session id of 32 digits, have ${ids}`);
  return ids[0];
}

/** mask puts one fixed word for the session id, which the agent draws anew in each run, and changes nothing else. */
export const mask = (bytes, tee) => Buffer.from(bytes.toString("latin1").replaceAll(sessionID(tee), "<session id>"), "latin1");

/** captureFile is the conversation as a file that steno translate reads. */
export const captureFile = (tee) => tee.lines.map(({ from, bytes }) => JSON.stringify({ from, b64: bytes.toString("base64") }) + "\n").join("");
