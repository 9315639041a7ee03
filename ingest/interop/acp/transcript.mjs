// What a transcript must hold, derived from the bytes that the client's side saw.
import assert from "node:assert/strict";

const stops = { end_turn: "EndTurn", cancelled: "Cancelled" };

/** said reads a conversation from its messages on the wire. */
export function said(messages) {
  const all = messages.map(toolsApart());
  const updates = all.filter((m) => m.method === "session/update").map((m) => m.params.update);
  const of = (variant) => updates.filter((u) => u.sessionUpdate === variant);
  const asked = all.filter((m) => m.method === "session/request_permission");
  const answer = (q) => all.find((m) => m.from === "client" && m.id === q.id && m.result?.outcome).result.outcome;
  return {
    prompts: all.filter((m) => m.method === "session/prompt").map((m) => m.params.prompt.map((part) => part.text).join("")),
    chunks: of("agent_message_chunk").map((u) => u.content.text),
    calls: of("tool_call").map((u) => [u.tool, u.title, u.rawInput]),
    results: of("tool_call_update").map((u) => [u.tool, u.rawOutput]),
    asked: asked.map((q) => q.params),
    decided: asked.map((q) => [q.params.toolCall.toolCallId, q.params.options, answer(q)]),
    stops: all.filter((m) => m.from === "agent" && m.result?.stopReason).map((m) => stops[m.result.stopReason]),
  };
}

/**
 * toolsApart puts beside each tool's id the one of the transcript, as the agent uses its ids again in
 * every turn: the second tool_call of an id is <id>#2, and so on. A decision keeps the id as it was sent.
 */
function toolsApart() {
  const uses = new Map();
  const name = (id) => (uses.get(id) > 1 ? `${id}#${uses.get(id)}` : id);
  return (m) => {
    const update = m.method === "session/update" && m.params.update;
    if (update?.sessionUpdate === "tool_call") uses.set(update.toolCallId, (uses.get(update.toolCallId) ?? 0) + 1);
    return update?.toolCallId ? { ...m, params: { ...m.params, update: { ...update, tool: name(update.toolCallId) } } } : m;
  };
}

/** kept reads the same from a transcript's events. */
export function kept(events) {
  const kinds = events.map((e) => e.kind);
  const of = (kind) => kinds.filter((k) => k.kind === kind);
  const messages = (role) => of("Message").filter((m) => m.role.role === role).map((m) => m.text);
  const raw = (source) => of("Raw").filter((r) => r.source === source).map((r) => r.value);
  return {
    prompts: messages("User"),
    answers: messages("Assistant"),
    calls: of("ToolCall").map((k) => [k.call_id, k.tool, k.input]),
    results: of("ToolResult").map((k) => [k.call_id, k.output]),
    asked: raw("session/request_permission"),
    decided: raw("session/request_permission/decision").map((v) => [v.toolCallId, v.offered, v.outcome]),
    stops: of("Stop").map((k) => k.reason.stop),
    phases: of("ToolState").map((k) => `${k.tool.toolId} ${k.tool.state.phase}`),
  };
}

/** isComplete holds a transcript against the bytes and against what the scenario is known to be. */
export function isComplete(events, messages, scenario) {
  const { chunks, ...wire } = said(messages), { answers, phases, ...have } = kept(events);
  assert.deepEqual(have, wire);
  assert.equal(answers.join(""), chunks.join(""));
  assert.deepEqual(have.prompts, scenario.prompts);
  assert.deepEqual(have.decided.map(([, , outcome]) => outcome.optionId), scenario.decisions);
  assert.deepEqual(have.stops, scenario.stops);
  assert.equal(have.calls.length, scenario.calls);
  assert.equal(have.results.length, scenario.results);
  assert.deepEqual(phases, scenario.phases);
  assert.equal(chunks.length, scenario.chunks);
  assert.deepEqual(events.map((e) => e.store_seq), events.map((_, i) => i + 1), "numbers without gaps");
}

/** comparable is an event's line without its times and its number, which an offline translation cannot have. */
export const comparable = (line) =>
  line.replace(/"emitted_at":"[^"]*"/, "").replace(/"store_seq":(\d+|null)/, "").replace(/"elapsedMs":\d+/, "");
