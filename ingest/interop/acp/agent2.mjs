// A small agent of version 2 on the SDK, which ships none: it works, asks for permission, answers.
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream } from 'acp-client-sdk/experimental/v2'

let cancelled = () => {}
const tell = (client, sessionId, update) => client.notify('session/update', { sessionId, update })

const app = agent({ name: 'example-2' })
  .onRequest('initialize', () => ({ protocolVersion: 2, info: { name: 'example-2', version: '1' }, capabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: 's-1' }))
  .onRequest('session/prompt', ({ params, client }) => {
    turn(client, params).catch((e) => console.error(e))
    return { messageId: 'u1' }
  })
  .onNotification('session/cancel', () => cancelled())

async function turn(client, { sessionId, prompt }) {
  const say = (update) => tell(client, sessionId, update)
  await say({ sessionUpdate: 'state_update', state: 'running' })
  await say({ sessionUpdate: 'user_message', messageId: 'u1', content: prompt })
  await say({ sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: { type: 'text', text: 'I look. ' } })
  await say({ sessionUpdate: 'tool_call_update', toolCallId: 't1', title: 'Edit', status: 'pending', rawInput: { path: '/w/a' } })
  if (prompt[0].text === 'wait') {
    await new Promise((done) => { cancelled = done; console.error('waiting') })
    return say({ sessionUpdate: 'state_update', state: 'idle', stopReason: 'cancelled' })
  }
  const { outcome } = await client.request('session/request_permission', {
    sessionId, title: 'May I edit /w/a?', subject: { type: 'tool_call', toolCall: { toolCallId: 't1' } },
    options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }, { optionId: 'n', name: 'No', kind: 'reject_once' }],
  })
  const allowed = outcome.outcome === 'selected' && outcome.optionId === 'y'
  await say({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: allowed ? 'completed' : 'cancelled' })
  await say({ sessionUpdate: 'agent_message_chunk', messageId: 'm2', content: { type: 'text', text: allowed ? 'It is done.' : 'I may not.' } })
  await say({ sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' })
}

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
