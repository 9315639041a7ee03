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
  "no-task-first": happily,
  boom: [],
};

/** scenarios are {name, says, until, told(form)}. */
export const scenarios = [
  ...Object.entries(plain).map(([name, want]) => ({
    name, says: [`orders ${name}`], until: name === "auth" ? "TASK_STATE_AUTH_REQUIRED" : undefined,
    told: () => [user(`orders ${name}`), ...want],
  })),
  {
    name: "follow-up", says: ["orders input", "orders happy"],
    told: ({ streaming }) => [
      user("orders input"), ...plain.input, user("orders happy"),
      ...(streaming ? ['note "resumed: working"'] : []), // who only hears the end does not hear of it
      ...happily,
    ],
  },
];
