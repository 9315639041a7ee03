// When the pieces of each message came, which the server finds in the frames when a replay asks for it.

import { ask, Fault, of, pause } from './api.js'
import { messageKey } from './fold.js'

const tries = 5

/** Typing is when the pieces of messages came: [ms since the first event, length so far] each. */
export class Typing {
  constructor() {
    this.stored = new Map() // by store_seq
    this.open = new Map() // of those that are not whole yet, by the item's key
    this.turn = 1 // counts what was read
  }

  /** of are an item's pieces; undefined where they are not known, or it came whole. */
  of(item) { return item.open ? this.open.get(item.key) : this.stored.get(item.seq) }

  /** pieces are the times of all pieces, in ms since the first event. */
  pieces() {
    const all = []
    for (const of of [this.stored, this.open]) for (const pieces of of.values()) for (const [at] of pieces) all.push(at)
    return all
  }

  /** with takes over what was read later. @param {Typing} later */
  with(later) {
    for (const [seq, pieces] of later.stored) this.stored.set(seq, pieces)
    this.open = later.open
    this.turn++
    return this
  }

  take(line) {
    if (!Array.isArray(line.pieces) || line.pieces.length === 0) return
    if (line.store_seq) this.stored.set(line.store_seq, line.pieces)
    else this.open.set(messageKey('Assistant', line.channel, line.message_id), line.pieces)
  }
}

/**
 * typing reads the pieces of a transcript's messages.
 * @param {string} key @param {number} after leaves out messages up to this number
 * @returns {Promise<Typing>}
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
  const out = new Typing()
  let rest = ''
  let whole = false
  const take = (line) => {
    if (line === '') return
    const v = JSON.parse(line)
    if (v.error !== undefined) throw new Error(v.error.message ?? String(v.error))
    if (v.end !== undefined) whole = true
    else out.take(v)
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
