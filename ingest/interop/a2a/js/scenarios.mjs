// What is said, and the transcript that must come of it: the same as of the Go peers, but where the SDK
// says otherwise.
const looking = 'note "Looking at the order list"';
const happily = [looking, 'Assistant answer "Seven <b>open</b> orders in Łódź." revision 0', "part data", "part raw", "part url", 'stop EndTurn ""'];
const user = (text) => `User answer ${JSON.stringify(text)} revision 0`;

const plain = {
  happy: happily,
  auth: [looking, 'Assistant answer "Sign in first" revision 0', 'note "interrupted: auth-required"'],
  input: [looking, 'Assistant answer "Which branch?" revision 0', 'note "interrupted: input-required"'],
  reject: [looking, 'Assistant answer "Out of scope" revision 0', 'stop Other "rejected"'],
  "message-only": ['Assistant answer "Only a message." revision 0', 'stop EndTurn ""'],
  fail: [looking, 'Assistant answer "Upstream said no" revision 0', 'stop Error "Upstream said no"'],
  slow: happily,
  // The SDK gives the agent's words to the client.
  boom: ['Assistant answer "Agent execution error: the agent has thrown" revision 0', 'stop Error "Agent execution error: the agent has thrown"'],
};

/** noTask is how a task ends that the agent never announces; each form has its own error for it. */
function noTask({ version, binding, streaming }) {
  const text = streaming
    ? "Received statusUpdate before initial 'Message'/'Task' event."
    : "Agent execution finished without a result, and no task context found.";
  const rpc = streaming ? "-32004" : "-32603";
  const rest = { "0.3": `${streaming ? 400 : 500} ${rpc}`, "1.0": streaming ? "FAILED_PRECONDITION" : "UNKNOWN" };
  return `stop Error ${JSON.stringify(`${binding === "REST" ? rest[version] : rpc} ${text}`)}`;
}

/** scenarios are {name, says, until, told(form)}. */
export const scenarios = [
  ...Object.entries(plain).map(([name, want]) => ({
    name, says: [`orders ${name}`], until: name === "auth" ? "TASK_STATE_AUTH_REQUIRED" : undefined,
    told: () => [user(`orders ${name}`), ...want],
  })),
  { name: "no-task-first", says: ["orders no-task-first"], told: (form) => [user("orders no-task-first"), noTask(form)] },
  {
    name: "follow-up", says: ["orders input", "orders happy"],
    told: ({ streaming }) => [
      user("orders input"), ...plain.input, user("orders happy"),
      ...(streaming ? ['note "resumed: working"'] : []), // who only hears the end does not hear of it
      ...happily,
    ],
  },
];
