// When the pieces of each message came, which the server finds in the frames when a replay asks for it.

import { ask, of } from './api.js'

/**
 * typing reads the pieces of a transcript's messages.
 * @returns {Promise<Map<number, {pieces: number[][]}>>} by store_seq; pieces are [ms since the first event, length so far]
 */
export async function typing(key, signal) {
  const r = await ask(of(key) + '/typing', signal)
  const out = new Map()
  let rest = ''
  let whole = false
  const take = (line) => {
    if (line === '') return
    const v = JSON.parse(line)
    if (v.error !== undefined) throw new Error(v.error.message ?? String(v.error))
    if (v.end !== undefined) whole = true
    else if (v.store_seq && Array.isArray(v.pieces)) out.set(v.store_seq, { pieces: v.pieces })
  }
  const decoder = new TextDecoder()
  for (const reader = r.body.getReader(); ;) {
    const { value, done } = await reader.read()
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()
    lines.forEach(take)
    if (done) break
  }
  take(rest)
  if (!whole) throw new Error('the answer was cut off')
  return out
}
