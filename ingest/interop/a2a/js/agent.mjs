// The agent: it does what it is ordered to, one word an order, as the agents of the Go peers do.
import { setTimeout as rest } from "node:timers/promises";
import { Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import { AgentEvent } from "@a2a-js/sdk/server";

const answer = ["Seven <b>open</b> orders", " in", " Łódź", "."];

export class Agent {
  /** over is a promise that is kept when the server ends. */
  constructor(over) { this.over = over; }

  async execute(context, bus) {
    await this.perform(new Voice(context, bus), context.userMessage.parts[0].content.value.replace("orders ", ""));
    bus.finished(); // where the agent has thrown, the SDK has a word to say first
  }

  async perform(says, order) {
    if (order === "message-only") return says.message("Only a message.");
    if (order !== "no-task-first") says.task();
    if (order === "boom") throw new Error("the agent has thrown");
    says.status("WORKING", "Looking at the order list");
    if (order === "auth") {
      says.status("AUTH_REQUIRED", "Sign in first");
      return this.over; // the task stays open, and so does its stream
    }
    if (order === "input") return says.status("INPUT_REQUIRED", "Which branch?");
    if (order === "reject") return says.status("REJECTED", "Out of scope");
    if (order === "fail") return says.status("FAILED", "Upstream said no");
    if (order === "slow") await rest(50);
    answer.forEach((text, i) => says.chunk(text, i > 0, i === answer.length - 1));
    says.things();
    says.status("COMPLETED");
  }

  async cancelTask() { throw new Error("nobody cancels here"); }
}

class Voice {
  constructor(context, bus) {
    this.context = context;
    this.bus = bus;
    this.ids = { taskId: context.taskId, contextId: context.contextId };
    this.artifactId = crypto.randomUUID();
  }

  text(text) { return { messageId: crypto.randomUUID(), role: "ROLE_AGENT", parts: [{ text }] }; }

  /** task begins each stream, that of a task which goes on, too: the SDK wants it so. */
  task() {
    const { task, taskId: id, contextId, userMessage } = this.context;
    const submitted = { id, contextId, history: [Message.toJSON(userMessage)], status: { state: "TASK_STATE_SUBMITTED" } };
    this.bus.publish(AgentEvent.task(Task.fromJSON(task ? Task.toJSON(task) : submitted)));
  }

  status(state, text) {
    const message = text && { ...this.text(text), ...this.ids };
    const status = { state: `TASK_STATE_${state}`, message, timestamp: new Date().toISOString() };
    this.bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...this.ids, status })));
  }

  artifact(artifact, flags) {
    this.bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...this.ids, artifact, ...flags })));
  }

  chunk(text, append, lastChunk) { this.artifact({ artifactId: this.artifactId, name: append ? "" : "answer", parts: [{ text }] }, { append, lastChunk }); }

  things() {
    const parts = [{ data: { count: 7, ids: [1, 2] } }, { raw: "aGkK" }, { url: "https://files.example/a.csv", mediaType: "text/csv" }];
    this.artifact({ artifactId: crypto.randomUUID(), parts });
  }

  message(text) { this.bus.publish(AgentEvent.message(Message.fromJSON(this.text(text)))); }
}
