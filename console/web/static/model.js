// One transcript, as far as it was read: its line in the list, its events, and the fold of them. The end that a reader
// wants to see first is shown from a fold of its own until all events before it were read.

import { Fault, json, of, pause, text } from './api.js'
import { Fold } from './fold.js'
import { elements } from './json.js'
import { Stream } from './stream.js'
import { breathe, Slice } from './turns.js'

const atOnce = 1500 // events that are read before anything is shown, where the reader wants the end
const page = 500
const first = 300 // events of the fold that is shown first
const between = 100 // ms between two looks at how far the reading is
const readable = 1500 // ms that a lag is shown at least

export class Model {
  /** @param {string} key @param {() => void} changed called whenever there is more to show */
  constructor(key, changed) {
    this.key = key
    this.changed = changed
    this.summary = null
    this.fold = new Fold() // that is shown
    this.behind = null // that is being read from the beginning, while another one is shown
    this.texts = [] // of the stored events, by number
    this.loaded = 0 // events read without a gap from the beginning
    this.seen = 0 // number of the last event
    this.head = 0
    this.complete = false
    this.told = -Infinity // when it was last said that more was read
    this.connection = 'connecting'
    this.lag = null
    this.lagged = 0 // when it came
    this.ended = null
    this.fault = null // why reading goes on later
    this.abort = new AbortController()
    this.stream = new Stream(key, () => this.seen, {
      event: (source) => this.event(source), delta: (e) => this.delta(e), snapshot: (s) => this.snapshot(s),
      lag: (l) => this.lags(l), end: (e) => this.end(e), connection: (state) => this.connectionIs(state),
    })
  }

  get signal() { return this.abort.signal }

  /**
   * open reads the line and the first events: from the beginning, around a number, or the last ones.
   * @param {{seq?: number, tail?: boolean|'live'}} at tail 'live': the last ones where it is still being recorded
   */
  async open(at) {
    this.summary = await json(of(this.key), this.signal)
    this.head = this.summary.head
    this.fold.peer = this.summary.protocol === 'a2a' ? this.summary.agent : ''
    const tail = at.tail === 'live' ? this.summary.status === 'open' : at.tail
    const from = at.seq > 0 ? Math.max(0, at.seq - first / 2) : tail ? Math.max(0, this.head - first) : 0
    if (from > atOnce) await this.preview(from)
    else await this.ahead(at.seq > 0 || tail ? this.head : 1)
  }

  /** run reads on until all is there, and follows. */
  async run() {
    if (this.behind !== null && !this.gap) this.stream.open() // the end is shown: it goes on
    await this.ahead(Infinity)
    if (this.behind !== null) this.swap()
    this.complete = true
    this.changed()
    this.stream.open()
  }

  async preview(from) {
    const answer = await this.page(from, first)
    this.behind = this.fold
    this.fold = new Fold()
    this.fold.peer = this.behind.peer
    this.shownFrom = from + 1
    this.texts.length = from + 1
    for (const source of elements(answer, 'events', {})) {
      const e = JSON.parse(source)
      this.texts[e.store_seq] = source
      this.fold.add(e, source)
      this.seen = e.store_seq
    }
    this.gap = this.seen < this.head // the end is not shown yet
  }

  // ahead reads from the beginning until so many events are there.
  async ahead(want) {
    while (this.loaded < Math.min(want, Math.max(this.head, this.seen))) {
      let answer
      try {
        answer = await this.page(this.loaded, this.loaded === 0 ? first : page)
      } catch (e) {
        if (!(e instanceof Fault) || !e.passes) throw e
        this.fault = e
        this.changed()
        await pause(2000, this.signal)
        continue
      }
      this.fault = null
      const rest = {}
      if (await this.take(elements(answer, 'events', rest)) === 0) return
      this.head = Math.max(this.head, rest.head_seq)
    }
  }

  page(after, limit) { return text(of(this.key) + '/events?after=' + after + '&limit=' + limit, this.signal) }

  // take reads entries, in slices, and gives how many there were.
  async take(entries) {
    await breathe() // it took its time to come
    this.signal.throwIfAborted()
    const fold = this.behind ?? this.fold
    const now = new Slice()
    let n = 0
    for (const source of entries) {
      n++
      const e = JSON.parse(source)
      if (e.store_seq !== this.loaded + 1) continue // it came by the stream
      this.texts[e.store_seq] = source
      fold.add(e, source)
      this.loaded = e.store_seq
      if (this.loaded > this.seen) this.seen = this.loaded
      if (now.isOver) {
        if (this.behind === null) this.more()
        await breathe()
        this.signal.throwIfAborted()
        now.begin()
      }
    }
    this.more()
    return n
  }

  // more says that more was read, as often as a reader sees it go on: each time there is much to lay out and to draw.
  more() {
    const now = performance.now()
    if (this.loaded < this.head && now - this.told < between) return
    this.told = now
    this.changed()
  }

  // swap shows the fold that has everything in the place of the one that was shown first.
  swap() {
    for (let seq = this.loaded + 1; seq <= this.seen; seq++) {
      this.behind.add(JSON.parse(this.texts[seq]), this.texts[seq])
      this.loaded = seq
    }
    this.behind.adopt(this.fold)
    this.fold = this.behind
    this.behind = null
    this.fold.changedFrom = 0
  }

  // event takes a stored event from the stream.
  event(source) {
    const e = JSON.parse(source)
    const known = this.behind !== null && !this.gap ? this.seen : this.loaded
    if (e.store_seq > known + 1) this.stream.again() // what lies between was left out: it is asked for
    if (e.store_seq !== known + 1) return
    this.texts[e.store_seq] = source
    this.fold.add(e, source)
    this.seen = e.store_seq
    if (this.behind === null) this.loaded = e.store_seq
    this.head = Math.max(this.head, e.store_seq)
    this.ended = null
    if (this.connection === 'ended') this.connection = 'live'
    this.note(e)
    this.changed()
  }

  // refresh reads the transcript's line again: its counts, its agent's name.
  async refresh() {
    try {
      const title = this.summary.title
      this.summary = { ...await json(of(this.key), this.signal) }
      this.summary.title ||= title
      if (this.ended !== null && this.summary.status === 'open') this.summary.status = this.ended.status
      this.changed()
    } catch (e) {
      if (!(e instanceof Fault) && e.name !== 'AbortError') throw e // the stream says when the server is away
    }
  }

  // note keeps the line in step with what is said.
  note(e) {
    const s = this.summary
    s.events = Math.max(s.events, e.store_seq)
    s.last_at = e.emitted_at
    if (e.kind.kind === 'Raw' && e.kind.source === 'session/update/session_info_update' && typeof e.kind.value?.title === 'string') s.title = e.kind.value.title
  }

  delta(e) {
    this.fold.piece(e)
    this.changed()
  }

  snapshot(s) {
    this.fold.snapshot(s)
    if (this.lag !== null && this.lag.reason !== 'behind' && this.lag.reason !== 'parked') this.caughtUp()
    this.changed()
  }

  lags(l) {
    const over = l.reason === 'behind' && l.events === 0
    if (!over) {
      this.lag = l
      this.lagged = performance.now()
    }
    else if (this.lag?.reason === 'behind') this.lag = null
    this.changed()
  }

  // caughtUp takes the lag back, not before it could be read.
  caughtUp() {
    const { lag } = this
    const over = () => {
      if (this.signal.aborted) return
      if (this.lag === lag) this.lag = null
      this.changed()
    }
    const rest = readable - (performance.now() - this.lagged)
    if (rest > 0) setTimeout(over, rest)
    else over()
  }

  end(e) {
    this.ended = e
    if (this.lag !== null) this.caughtUp()
    if (e.status === 'ended') this.fold.finish()
    this.connectionIs('ended')
    this.summary.status = e.status
    this.refresh()
    this.changed()
  }

  connectionIs(state) {
    this.connection = state
    this.changed()
  }

  /** parsed is a stored event, read again. */
  parsed(seq) { return JSON.parse(this.texts[seq]) }

  close() {
    this.abort.abort(new DOMException('closed', 'AbortError'))
    this.stream.close()
  }
}
