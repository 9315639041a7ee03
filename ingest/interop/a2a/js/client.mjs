// A client in one form alone, made from the agent's card.
import { Message, SendMessageRequest, StreamResponse, Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { recorder } from "./wire.mjs";

const transports = { "JSON-RPC": JsonRpcTransportFactory, REST: RestTransportFactory };

/** talk says a scenario's words, each once the one before is answered; it gives {exchanges, heard}. */
export async function talk({ version, binding, streaming }, scenario, url) {
  const wire = recorder(), heard = [], options = { fetchImpl: wire.fetch, legacyCompat: { enabled: version === "0.3" } };
  const client = await new ClientFactory({ transports: [new transports[binding](options)], cardResolver: new DefaultAgentCardResolver(options) }).createFromUrl(url);
  let task = {};
  for (const [i, text] of scenario.says.entries()) {
    const message = { messageId: `m-${scenario.name}-${i + 1}`, role: "ROLE_USER", parts: [{ text }], ...task };
    const note = (answer) => {
      heard.push(JSON.stringify(answer));
      const said = read(answer);
      if (said.taskId) task = { taskId: said.taskId, contextId: said.contextId };
      return said;
    };
    try {
      const params = SendMessageRequest.fromJSON({ message });
      if (!streaming) note(await client.sendMessage(params));
      else for await (const answer of client.sendMessageStream(params)) if (note(answer).state === scenario.until && scenario.until) break;
    } catch (err) {
      heard.push(`${err.name}: ${err.message}`);
    }
  }
  return { exchanges: wire.exchanges, heard };
}

/** read takes the task and its state out of what the SDK gives: an answer, or an item of a stream. */
function read(answer) {
  const value = answer.payload?.value ?? answer;
  const state = value.status && TaskState[value.status.state];
  return { taskId: value.taskId || (value.status && value.id), contextId: value.contextId, state };
}
