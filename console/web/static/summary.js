// What a transcript's line of the list says in words: its status, for how long it has said nothing, what it is called.

import { oneLine } from './visible.js'
import { ago } from './when.js'

const longIdle = 600_000 // ms from which on an open transcript says for how long it has said nothing

const statuses = {
  __proto__: null,
  open: ['live', 'It is still being recorded.'], ended: ['ended', 'It was seen to its end.'],
  abandoned: ['abandoned', 'Nobody saw its end, and nothing has been said for long.'], parked: ['parked', 'It could not be translated further; its frames are kept.'],
}

/** statusOf is a status in a word, and what it means. @returns {[string, string]} */
export function statusOf(t) { return statuses[t.status] ?? [oneLine(t.status), ''] }

/** idleOf is for how long an open transcript has said nothing, in words; empty where that is not worth saying. @param {number} [last] when something was said, in ms */
export function idleOf(t, last = 0) {
  const ms = t.status === 'open' && t.idle_since ? Date.now() - Math.max(Date.parse(t.idle_since), last) : 0
  return ms > longIdle ? 'idle ' + ago(ms).replace(' ago', '') : ''
}

/** titleOf is what a transcript is called. */
export function titleOf(t) { return oneLine(t.title) || oneLine(t.session_id ?? '') || (t.key.endsWith('/0') && t.protocol === 'acp' ? 'connection' : 'untitled') }
