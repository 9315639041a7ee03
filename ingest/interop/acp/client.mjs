// client.mjs AGENT ARGS…: a client on the newest SDK. One session of three turns: the first is allowed
// what it asks for, the second (a prompt of a megabyte) is refused it, the third is cancelled half-way.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "acp-client-sdk";
import { prompts } from "./prompts.mjs";

const agent = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
const answers = ["allow", "reject"];
await acp
  .client({ name: "interop" })
  .onRequest(acp.methods.client.session.requestPermission, () => ({ outcome: { outcome: "selected", optionId: answers.shift() } }))
  .connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    await ctx.buildSession(process.cwd()).withSession(async (session) => {
      for (const [turn, prompt] of prompts.entries()) {
        session.prompt(prompt);
        for (let m = await session.nextUpdate(); ; m = await session.nextUpdate()) {
          console.log(JSON.stringify(m.update ?? m.stopReason));
          if (m.kind === "stop") break;
          if (turn === 2 && m.update.sessionUpdate === "tool_call") await ctx.notify(acp.methods.agent.session.cancel, { sessionId: session.sessionId });
        }
      }
    });
  });
agent.stdin.end();
