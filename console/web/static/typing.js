// When the pieces of each message came, which the server finds in the frames when a replay asks for it.

import { ask, Fault, of, pause } from './api.js'

const tries = 5

/**
 * typing reads the pieces of a transcript's messages.
 * @param {string} key @param {number} after leaves out messages up to this number
 * @returns {Promise<Map<number, {pieces: number[][]}>>} by store_seq; pieces are [ms since the first event, length so far]
 */
export async function typing(key, after, signal) {
  let r
  for (let turn = 0; ; turn++) {
    try {
      r = await ask(of(key) + '/typing?after=' + after, signal)
      break
    } catch (e) {
      if (!(e instanceof Fault) || !e.passes || turn === tries) throw e
      await pause(2000, signal) // others have theirs read at the moment
    }
  }
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
