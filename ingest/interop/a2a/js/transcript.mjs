// What a transcript comes to, without ids, times and the labels of frames.
import assert from "node:assert/strict";
import { posix } from "node:path";

const lines = {
  Message: (k) => `${k.role.role} ${k.channel} ${JSON.stringify(k.text)} revision ${k.revision ?? 0}`,
  Progress: (k) => `note ${JSON.stringify(k.detail.text)}`,
  Stop: (k) => `stop ${k.reason.stop} ${JSON.stringify(k.reason.message ?? k.reason.reason ?? "")}`,
  Raw: (k) => (posix.basename(posix.dirname(k.source)) === "part" ? `part ${posix.basename(k.source)}` : ""),
};

/** told reads the lines of steno show, whose numbers have no gap. */
export function told(events) {
  assert.deepEqual(events.map((e) => e.store_seq), events.map((_, i) => i + 1), "numbers without gaps");
  return events.map(({ kind }) => (lines[kind.kind] ?? (() => kind.kind))(kind)).filter(Boolean).join("\n");
}
