// Events become items: what a reader sees as one thing. A tool's card is one item from its call to its end, a message
// one from its first piece to its last. Items stand where their first frames stand. The fold keeps where things are
// (numbers, frames, times), not what they say: that is read again when it is shown.

import { faultText, envelope, labelOf, sends, statusesOf } from './a2a.js'
import { read } from './json.js'

/**
 * @typedef {object} Item
 * @property {number} id
 * @property {string} kind as data-kind
 * @property {number} place the frame at which it stands; worker and part order what stands at one frame
 * @property {number} seq of its first stored event, 0 while there is none
 * @property {number[]} seqs its stored events
 * @property {number[][]} frames closed ranges
 * @property {number} at ms, of its first event
 * @property {number} end ms, of its last event
 * @property {boolean} hidden another item says the same; owner is that one
 * @property {boolean} open its text still grows
 * @property {number} rev counts its changes
 */

const update = 'session/update/'
const shownElsewhere = new Set(['session/prompt', update + 'tool_call', update + 'tool_call_update',
  update + 'user_message_chunk', update + 'agent_message_chunk', update + 'agent_thought_chunk',
  update + 'user_message', update + 'agent_message', update + 'agent_thought'])
const roles = { __proto__: null, User: 'user', Assistant: 'agent' }

/** Fold takes events in the order of their numbers, and what is typed between them. */
export class Fold {
  constructor() {
    /** @type {Item[]} in reading order */
    this.items = []
    /** @type {Item[]} by store_seq */
    this.itemOf = []
    this.atOf = [] // ms, by store_seq
    this.changedFrom = Infinity // index from which items moved since the last look
    this.tasks = new Set()
    this.peer = ''
    this.open = new Map()
    this.cards = new Map()
    this.uses = new Map()
    this.closed = new Map() // messages that are stored, each with the frame that ended it
    this.notes = new Map() // of tasks: the frame that stored progress last, and its words
    this.stops = new Map() // of tasks: the frame that ended it
    this.ending = [] // open ones that have ended, as a snapshot says, before an event that is on its way
    this.seq = 0 // number of the last event
    this.ids = 0
    this.workers = [] // frames at which events were emitted, ascending, and when
    this.times = []
    this.first = NaN // ms of the first event
    this.last = NaN
    this.asked = null
    this.fault = null
    this.told = 0
    this.pending = null // the hidden one that waits for its owner
    this.progress = [] // the run of notes of A2A that ends with the event before
    this.progressWorker = -1
    this.begun = new Map()
    this.plan = null
    this.questions = [] // permissions of no tool, as they were asked
    this.origin = ''
    this.shown = 0 // items that are not hidden
    this.version = 0 // counts changes of the order
  }

  /** add takes a stored event. @param {object} e parsed @param {string} source its text */
  add(e, source) {
    const at = Date.parse(e.emitted_at)
    if (!(this.first <= at)) this.first = Number.isNaN(this.first) ? at : Math.min(this.first, at)
    this.last = Number.isNaN(this.last) ? at : Math.max(this.last, at)
    if (this.workers.at(-1) !== e.worker_seq) {
      this.workers.push(e.worker_seq)
      this.times.push(at)
    }
    e.at = at
    e.place = firstFrame(e)
    e.a2a = e.source?.protocol === 'a2a'
    if (e.a2a && e.source.task_id && e.kind.kind !== 'Raw') this.tasks.add(e.source.task_id)
    this.settleFault(e)
    const kind = e.kind
    const item = this.itemFor(e, kind, source)
    this.itemOf[e.store_seq] = item
    this.atOf[e.store_seq] = at
    this.own(e, item)
    this.chain(e, item)
    this.seq = e.store_seq
    if (this.ending.length > 0) this.sweep()
  }

  // itemFor is the item that an event is or joins. One that cannot be read as what it should be is a record: nothing
  // that is said may keep the rest from being read.
  itemFor(e, kind, source) {
    try {
      return handlers[kind.kind]?.call(this, e, kind, source) ?? this.make(e, 'record', { label: kind.kind })
    } catch (fault) {
      console.error(fault)
      return this.make(e, 'record', { label: kind.kind })
    }
  }

  // make makes an item of an event that is one by itself.
  make(e, kind, more) {
    const item = {
      id: ++this.ids, kind, place: e.place, worker: e.worker_seq, part: e.part, seq: e.store_seq ?? 0,
      seqs: e.store_seq ? [e.store_seq] : [], frames: e.frames ? e.frames.slice() : [], at: e.at, end: e.at,
      hidden: false, open: false, rev: 0, height: 0, guess: 0, size: 0, flags: e.flags ?? [], task: e.source?.task_id ?? '',
      agent: e.agent_role && e.agent_role !== 'agent' ? e.agent_role : '', ...more,
    }
    this.insert(item)
    return item
  }

  // join makes an event one more of an item's.
  join(e, item) {
    item.seqs.push(e.store_seq)
    if (!item.seq) item.seq = e.store_seq
    for (const f of e.frames ?? []) addRange(item.frames, f)
    item.end = Math.max(item.end, e.at)
    item.rev++
    return item
  }

  // own finds the item that says what a hidden one says: of the same frame.
  own(e, item) {
    if (item.hidden && !item.owner) {
      if (this.lastShown?.end >= e.at && this.lastWorker === e.worker_seq) item.owner = this.lastShown
      else this.pending = { worker: e.worker_seq, item }
    } else if (!item.hidden) {
      if (this.pending?.worker === e.worker_seq) this.pending.item.owner = item
      this.pending = null
      this.lastShown = item
      this.lastWorker = e.worker_seq
    }
  }

  hide(e, more) { return this.make(e, 'record', { hidden: true, ...more }) }

  // chain moves progress of A2A before the answer that a frame ended together with it.
  chain(e, item) {
    if (this.progressWorker === e.worker_seq) {
      let place = e.place
      for (let i = this.progress.length - 1; i >= 0; i--) {
        const p = this.progress[i]
        p.place = place = Math.min(p.place, place)
        if (!p.item.pinned) this.move(p.item, place)
      }
    } else this.progress.length = 0
    if (e.a2a && e.kind.kind === 'Progress') {
      if (this.progressWorker !== e.worker_seq) this.progress.length = 0
      this.progress.push({ item, place: e.place })
      this.progressWorker = e.worker_seq
    } else this.progressWorker = -1
  }

  // settleFault keeps an error that nothing else says.
  settleFault(e) {
    const fault = this.fault
    this.fault = null
    if (fault === null) return
    const says = e.kind.kind === 'Stop' || e.kind.kind === 'Progress' && e.kind.detail?.detail === 'Note'
    if (says && e.worker_seq === fault.worker) this.conceal(fault)
  }

  conceal(item) {
    if (item.hidden) return
    item.hidden = true
    this.shown--
    this.version++
    this.touch(item)
  }

  // Order.

  insert(item) {
    const i = this.find(item)
    this.items.splice(i, 0, item)
    this.version++
    if (!item.hidden) this.shown++
    if (i < this.changedFrom) this.changedFrom = i
  }

  remove(item) {
    const i = this.index(item)
    if (i < 0) return
    this.items.splice(i, 1)
    this.version++
    if (!item.hidden) this.shown--
    if (i < this.changedFrom) this.changedFrom = i
  }

  move(item, place, worker = item.worker, part = item.part) {
    if (item.place === place && item.worker === worker && item.part === part) return
    this.remove(item)
    item.place = place
    item.worker = worker
    item.part = part
    this.insert(item)
  }

  touch(item) {
    item.rev++
    const i = this.index(item)
    if (i >= 0 && i < this.changedFrom) this.changedFrom = i
  }

  // find is where an item belongs; most belong near the end.
  find(item) {
    const all = this.items
    if (all.length === 0 || before(all[all.length - 1], item)) return all.length
    let low = 0
    let high = all.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (before(all[middle], item)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** index is where an item is; -1 if it is not there. */
  index(item) {
    const i = this.find(item)
    return this.items[i] === item ? i : -1
  }

  /** same is the item that is here what one of another fold is there; null if there is none. @param {Item} item */
  same(item) {
    if (item.seq > 0) return this.itemOf[item.seq] ?? null
    return (item.kind === 'tool' ? this.cards.get(item.tool) : this.open.get(item.key)) ?? null
  }

  /** timeAt is when the last frame up to this one came at which something was emitted. */
  timeAt(frame) {
    let low = 0
    let high = this.workers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.workers[middle] <= frame) low = middle + 1
      else high = middle
    }
    return low === 0 ? this.first : this.times[low - 1]
  }

  /** knows reports whether an event was emitted at this frame, so that its time is known. */
  knows(frame) {
    let low = 0
    let high = this.workers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.workers[middle] < frame) low = middle + 1
      else high = middle
    }
    return this.workers[low] === frame
  }

  // Cards.

  // card finds or makes the card of a tool. The peer may use an id again; then "#2" stands behind it.
  card(e, id) {
    const key = lane(e, id)
    let item = this.cards.get(key)
    if (item === undefined) {
      item = this.make(e, 'tool', { tool: id, phase: '', asks: 0, name: '' })
      this.cards.set(key, item)
    } else this.join(e, item)
    const peer = id.split('#')[0]
    this.uses.set(lane(e, peer), key)
    this.uses.set(key, key)
    return item
  }

  // asker is the card of the tool that a record is about; undefined if there is none.
  asker(e, peer) { return typeof peer === 'string' ? this.cards.get(this.uses.get(lane(e, peer))) : undefined }

  // What is typed.

  // typist is the item of an open message, as it stands at a frame. A piece from before its message's end is late; one
  // from after it is of another message that has the same id.
  typist(channel, role, id, e, frame) {
    const key = messageKey(role, channel, id)
    if (frame <= this.closed.get(key)) return null
    let item = this.open.get(key)
    if (item === undefined) {
      item = this.make(e, messageKind(role, channel), { open: true, text: '', key, began: frame, role, fromPieces: !(e.worker_seq % 1) })
      this.open.set(key, item)
    }
    return item
  }

  /** piece takes a delta, and gives the item whose text it is of. @param {object} e parsed */
  piece(e) {
    const at = Date.parse(e.emitted_at)
    if (!Number.isNaN(at)) this.last = Number.isNaN(this.last) ? at : Math.max(this.last, at)
    e.at = at
    e.place = firstFrame(e)
    const k = e.kind
    if (k.kind === 'Delta') return this.type(this.typist('answer', 'Assistant', k.message_id, e, e.worker_seq), k.text_fragment, k.reset, at)
    const d = k.kind === 'Progress' ? k.detail : {}
    if (d.detail === 'Thinking') return this.type(this.typist('thought', 'Assistant', d.message_id, e, e.worker_seq), d.text, d.reset, at)
    if (d.detail === 'Note') {
      const item = this.noting(e, e.worker_seq)
      return this.type(item, (item.text !== '' && !/\s$/.test(item.text) && !/^\s/.test(d.text) ? '\n' : '') + d.text, false, at)
    }
    return null
  }

  noting(e, frame) {
    const key = noteKey(e)
    let item = this.open.get(key)
    if (item === undefined) {
      item = this.make(e, 'note', { open: true, text: '', key, began: frame })
      this.open.set(key, item)
    }
    return item
  }

  type(item, piece, reset, at) {
    if (item === null) return null
    item.text = reset ? piece : item.text + piece
    item.end = at
    item.size = item.text.length
    item.rev++
    return item
  }

  /**
   * snapshot takes all that is open: it takes the place of what was typed. What is not in it has ended: it stays until
   * the event comes that it became, if it became one.
   */
  snapshot(s) {
    const after = s.frame + 0.5 // it tells how that frame left things
    const there = new Set()
    for (const n of s.notes ?? []) {
      const item = this.noting(this.here({ task_id: n.task_id, protocol: 'a2a' }), after)
      this.say(item, n.text)
      there.add(item)
    }
    for (const m of s.messages) {
      const item = this.typist(m.channel, m.role, m.message_id, this.here({ task_id: m.task_id }), after)
      if (item === null) continue
      this.say(item, m.text)
      there.add(item)
    }
    this.ending = []
    for (const item of this.open.values()) {
      if (!there.has(item) && item.began <= s.frame) this.ending.push({ item, seq: s.ordinal })
    }
    this.sweep()
    for (const t of s.tools) {
      const tool = t.tool ?? t
      let item = this.cards.get(tool.toolId)
      if (item === undefined) {
        item = this.make(this.here({}), 'tool', { tool: tool.toolId, phase: '', asks: 0, name: '' })
        this.cards.set(tool.toolId, item)
        this.uses.set(tool.toolId.split('#')[0], tool.toolId)
        this.uses.set(tool.toolId, tool.toolId)
      }
      item.live = tool
      item.liveAt = s.frame
      item.phase = tool.state.phase
      this.touch(item)
    }
  }

  // sweep takes away what has ended and became none of the events up to now.
  sweep() {
    this.ending = this.ending.filter(({ item, seq }) => {
      if (this.seq >= seq) this.forget(item)
      return item.open && this.seq < seq
    })
  }

  // forget takes away what was typed and became no event of its own.
  forget(item) {
    if (this.open.get(item.key) !== item) return
    this.open.delete(item.key)
    item.open = false
    this.remove(item)
  }

  /** finish takes away all that is open: the transcript has ended. */
  finish() {
    for (const item of [...this.open.values()]) this.forget(item)
  }

  /** adopt takes over what is open in another fold, save what has ended in this one. @param {Fold} other */
  adopt(other) {
    for (const [key, item] of other.open) {
      if (this.isOver(item) || this.open.has(key)) continue
      const copy = { ...item, id: ++this.ids }
      this.open.set(key, copy)
      this.insert(copy)
    }
    this.ending = other.ending.map((x) => ({ item: this.open.get(x.item.key), seq: x.seq })).filter((x) => x.item !== undefined)
    this.sweep()
    for (const [key, theirs] of other.cards) {
      if (theirs.live === undefined) continue
      let ours = this.cards.get(key)
      if (ours === undefined) {
        if (theirs.seq > 0) continue // it stands in an event that is not here yet
        this.insert(ours = { ...theirs, id: ++this.ids })
        this.cards.set(key, ours)
        this.uses.set(theirs.tool.split('#')[0], key)
        this.uses.set(key, key)
        continue
      }
      if (ours.stated > theirs.liveAt) continue
      ours.live = theirs.live
      ours.liveAt = theirs.liveAt
      ours.phase = theirs.phase
      this.touch(ours)
    }
  }

  // isOver reports whether what is open in another fold has ended in this one.
  isOver(item) {
    if (item.began <= this.closed.get(item.key) || item.began <= this.stops.get(item.task)) return true
    const note = this.notes.get(item.key)
    return note !== undefined && item.began <= note.frame && note.words.startsWith(wordsOf(item.text))
  }

  say(item, text) {
    if (item.text === text) return
    item.text = text
    item.size = text.length
    item.rev++
  }

  // here is an event that stands behind all that was read.
  here(source) {
    const frame = (this.workers.at(-1) ?? 0) + 0.5
    return { place: frame, worker_seq: frame, part: ++this.ids, at: Number.isNaN(this.last) ? Date.now() : this.last, source }
  }

  // stopped takes away what of a task was typed and said nothing new.
  stopped(e) {
    const task = e.source.task_id ?? ''
    this.stops.set(task, e.worker_seq)
    for (const item of [...this.open.values()]) if (item.task === task && item.began <= e.worker_seq) this.forget(item)
  }

  // closing makes an open item the stored one that it was the beginning of; undefined if it was not typed.
  closing(key, e, kind) {
    const item = this.open.get(key)
    if (item === undefined) return undefined
    this.open.delete(key)
    item.open = false
    item.kind = kind
    item.seq = e.store_seq
    item.seqs = [e.store_seq]
    item.frames = (e.frames ?? []).slice()
    item.flags = e.flags ?? []
    item.end = e.at
    item.text = undefined
    item.typed = item.fromPieces
    this.move(item, e.place, e.worker_seq, e.part)
    this.touch(item)
    return item
  }
}

const handlers = {
  __proto__: null,

  Message(e, k) {
    const role = k.role?.role ?? ''
    const kind = messageKind(role, k.channel)
    const key = messageKey(role, k.channel, k.message_id)
    this.closed.set(key, e.worker_seq)
    const item = this.closing(key, e, kind) ?? this.make(e, kind, {})
    item.size = k.text.length
    item.role = role
    item.revision = k.revision ?? 0
    if (role === 'User') this.asked = e.worker_seq
    return item
  },

  ToolCall(e, k) {
    const item = this.card(e, k.call_id)
    item.name = k.tool
    item.flags = e.flags ?? []
    return item
  },

  ToolResult(e, k) {
    const item = this.card(e, k.call_id)
    item.result = true
    item.failed = k.is_error
    return item
  },

  ToolState(e, k) {
    const item = this.card(e, k.tool.toolId)
    const state = k.tool.state
    item.live = undefined
    item.stated = e.worker_seq
    item.name = k.tool.title || k.tool.name || item.name
    item.phase = state.phase
    item.success = state.success
    if (state.phase === 'executing' && item.running === undefined) item.running = e.at
    return item
  },

  Progress(e, k) {
    const d = k.detail ?? {}
    if (d.detail === 'UsageEstimate') return this.make(e, 'usage', {})
    if (d.detail !== 'Note') return this.make(e, 'record', { label: d.detail ?? 'Progress' })
    if (!e.a2a) return this.make(e, 'note', { size: d.text.length })
    this.told = e.worker_seq
    const task = e.source.task_id ?? ''
    const key = noteKey(e)
    const words = wordsOf(d.text)
    this.notes.set(key, { frame: e.worker_seq, words })
    // The fold's own remarks are notes, too: only one that says what was typed is what that became.
    const typed = this.open.get(key)
    const item = typed !== undefined && words.startsWith(wordsOf(typed.text)) && this.closing(key, e, 'note') || this.make(e, 'note', {})
    item.size = d.text.length
    for (const s of this.begun.get(task) ?? []) {
      if (s.frame >= e.worker_seq || !d.text.startsWith(s.text)) continue
      item.pinned = true
      this.begun.delete(task)
      this.move(item, Math.min(e.place, s.frame))
      break
    }
    return item
  },

  Stop(e, k) {
    this.told = e.worker_seq
    if (e.a2a) this.stopped(e)
    return this.make(e, 'stop', { reason: k.reason?.stop ?? '' })
  },

  Raw(e, k, source) {
    if (e.a2a) return rawA2A.call(this, e, k, source)
    return rawACP.call(this, e, k)
  },
}

function rawACP(e, k) {
  const source = k.source
  const value = k.value ?? {}
  const slash = source.indexOf('/')
  const last = source.startsWith('acp/') ? source.slice(slash + 1) : ''
  if (source === update + 'tool_call' || source === update + 'tool_call_update') {
    const item = this.asker(e, value.toolCallId)
    if (item === undefined) return this.hide(e, { label: source })
    return this.join(e, item)
  }
  if (source === 'session/prompt/request' && this.asked === e.worker_seq || shownElsewhere.has(source)) return this.hide(e, { label: source })
  if ((source === update + 'plan' || source === update + 'plan_update') && Array.isArray(value.entries ?? value.plan?.entries)) {
    const item = this.make(e, 'plan', { size: (value.entries ?? value.plan.entries).length })
    if (this.plan !== null) {
      this.plan.next = item
      this.touch(this.plan)
    }
    this.plan = item
    return item
  }
  if (source === 'session/request_permission') {
    const item = this.asker(e, value.toolCall?.toolCallId)
    if (item !== undefined) {
      item.asks++
      return this.join(e, item)
    }
    const asked = this.make(e, 'permission', {})
    this.questions.push({ item: asked, offered: namesOf(value.options), large: value.ref !== undefined && value.options === undefined })
    return asked
  }
  if (source === 'session/request_permission/decision') {
    const item = this.asker(e, value.toolCallId)
    const large = this.questions.findLastIndex((q) => q.large) // such a request does not say which tool it is about
    if (item !== undefined && (large < 0 || item.asks > (item.answers ?? 0))) {
      item.answers = (item.answers ?? 0) + 1
      return this.join(e, item)
    }
    const offered = namesOf(value.offered)
    const named = item === undefined ? this.questions.findLastIndex((q) => !q.large && q.offered === offered) : -1
    const i = named < 0 ? large : named
    return i < 0 ? this.make(e, 'permission', {}) : this.join(e, this.questions.splice(i, 1)[0].item)
  }
  if (source.startsWith('refused/')) return this.make(e, 'refused', { label: source.slice('refused/'.length) })
  if (source === 'stderr' || last === 'noise') return this.make(e, 'noise', { label: source === 'stderr' ? 'stderr' : 'noise', size: 200 })
  if (last === 'open' || last === 'close' || last === 'gap') return this.make(e, 'control', { label: last })
  return this.make(e, 'record', { label: recordLabel(source) })
}

// namesOf are the names of a permission's options, by which an answer finds what was asked.
function namesOf(options) {
  return JSON.stringify(Array.isArray(options) ? options.map((o) => o?.name || o?.optionId || '?') : [])
}

function recordLabel(source) {
  const of = source.endsWith('/response') ? source.slice(0, -'/response'.length) + ' answered' : source
  return of.startsWith(update) ? of.slice(update.length) : of
}

function rawA2A(e, k, source) {
  const label = labelOf(k.source)
  const { last, method } = label
  const value = k.value ?? {}
  const what = method === '' ? 'call' : method
  const task = e.source.task_id ?? ''
  if (last === 'statusUpdate' || last === 'task' || last === 'several' || last === 'ambiguous') {
    const said = statusesOf(last, read(source).get('kind').get('value').raw)
    if (said.length > 0) {
      if (!this.begun.has(task)) this.begun.set(task, [])
      for (const text of said) this.begun.get(task).push({ frame: e.worker_seq, text })
    }
  }
  if (k.source.includes('/part/')) return this.make(e, 'part', {})
  switch (last) {
    case 'served': case 'http': return this.hide(e, { label: k.source })
    case 'noise': return onlyComments(value) ? this.hide(e, { label: k.source }) : this.make(e, 'noise', { label: 'noise', size: 200 })
    case 'close': return closeA2A.call(this, e, value)
    case 'open': return openA2A.call(this, e, value)
    case 'gap': return this.make(e, 'control', { label: last })
    case 'card': return this.make(e, 'record', { label: 'agent card', say: 'card' })
    case 'request':
      if (this.asked === e.worker_seq || sends(label) || method === '') return this.hide(e, { label: k.source })
      return this.make(e, 'record', { label: what })
    case 'error': {
      const item = this.make(e, 'fault', { label: what })
      if (sends(label)) this.fault = item // its Stop or its note says it
      return item
    }
    case 'task':
      if (!sends(label) && method !== '' && method !== 'PushNotification') return this.make(e, 'record', { label: what + ' answered', say: 'state' })
      return this.hide(e, { label: k.source })
    case 'message': case 'statusUpdate': case 'artifactUpdate': return this.hide(e, { label: k.source })
    case 'result':
      if (method === 'PushNotification') return this.hide(e, { label: k.source })
      return this.make(e, 'record', { label: what + ' answered' })
    case 'tasks': return this.make(e, 'record', { label: what + ' answered' })
  }
  return this.make(e, 'record', { label: method === '' ? last : what + ': ' + last })
}

function openA2A(e, value) {
  if (typeof value.peer === 'string' && value.peer !== '') this.peer = value.peer
  const words = [value.upstream, ...Object.entries(value.labels ?? {}).map((l) => l.join('='))].filter(Boolean).join(' · ')
  const again = words === '' || words === this.origin
  this.origin = words
  return again && !e.flags?.includes('unrecognised') ? this.hide(e, { label: 'open' }) : this.make(e, 'control', { label: 'open' })
}

// closeA2A is how a recording ended. The end of an exchange is nothing to read, unless it broke off.
function closeA2A(e, value) {
  const failure = value.error ?? ''
  if (!value.exchange) return this.make(e, 'control', { label: 'close' })
  if (failure === '' && value.reason === 'eof' || failure !== '' && this.told === e.worker_seq) return this.hide(e, { label: 'close' })
  return this.make(e, 'control', { label: failure !== '' ? 'broke' : 'unseen' })
}

function onlyComments(value) {
  if (typeof value.base64 !== 'string') return false
  try {
    return atob(value.base64).split(/\r?\n/).every((line) => line === '' || line[0] === ':')
  } catch {
    return false
  }
}

/** faultWords is an error of a call in words. @param {Value} value of the record */
export function faultWords(value) {
  const fault = envelope(value).error
  return fault.present ? faultText(fault) : ''
}

function firstFrame(e) { return e.frames?.length > 0 ? e.frames[0][0] : e.worker_seq }

function before(a, b) {
  if (a.place !== b.place) return a.place < b.place
  if (a.worker !== b.worker) return a.worker < b.worker
  if (a.part !== b.part) return a.part < b.part
  return a.id < b.id
}

// lane keeps the tools of a replayed history apart from those that ran: they may have the same ids.
function lane(e, id) { return e.flags?.includes('replayed') ? 'replayed\0' + id : id }

function noteKey(e) { return 'note\0' + (e.source?.task_id ?? '') }

// wordsOf is a text without white space.
function wordsOf(s) { return s.replace(/\s+/g, '') }

/** messageKey names a message among those that are open. */
export function messageKey(role, channel, id) { return role + '\0' + channel + '\0' + id }

function messageKind(role, channel) {
  if (channel === 'thought') return 'thought'
  return roles[role] ?? 'message'
}

function addRange(ranges, [from, to]) {
  const last = ranges.at(-1)
  if (last !== undefined && from <= last[1] + 1 && to >= last[0]) {
    ranges[ranges.length - 1] = [Math.min(from, last[0]), Math.max(to, last[1])]
    return
  }
  ranges.push([from, to])
}
