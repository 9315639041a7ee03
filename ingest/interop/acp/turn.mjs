// turn.mjs PROMPT AGENT ARGS…: a client on the newest SDK that asks one thing, allows everything, and prints what it gets.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "acp-client-sdk";

const [prompt, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
await acp
  .client({ name: "interop" })
  .onRequest(acp.methods.client.session.requestPermission, () => ({ outcome: { outcome: "selected", optionId: "allow" } }))
  .connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    await ctx.buildSession(process.cwd()).withSession(async (session) => {
      session.prompt(prompt);
      for (let m = await session.nextUpdate(); ; m = await session.nextUpdate()) {
        console.log(JSON.stringify(m.update ?? m.stopReason));
        if (m.kind === "stop") break;
      }
    });
  });
agent.stdin.end();
