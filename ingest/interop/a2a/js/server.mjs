// A server of one version of the protocol, in both bindings.
import { once } from "node:events";
import { createServer } from "node:http";
import express from "express";
import { AgentCard } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import { Agent } from "./agent.mjs";

/** serve gives {url, end} of a server on loopback. */
export async function serve(protocolVersion) {
  let over;
  const agent = new Agent(new Promise((resolve) => { over = resolve; }));
  const app = express(), server = createServer(app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  const bindings = { "/rpc": "JSONRPC", "/rest": "HTTP+JSON" };
  const card = AgentCard.fromJSON({
    name: "orders", description: "knows the orders", version: "1", capabilities: { streaming: true },
    supportedInterfaces: Object.entries(bindings).map(([path, protocolBinding]) => ({ url: url + path, protocolBinding, protocolVersion })),
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: protocolVersion === "0.3" } };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: options.legacyCompat }));
  app.use("/rpc", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
  const end = async () => {
    over();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { url, end };
}
