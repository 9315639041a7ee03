// The view of one transcript: its heading, its items near the view, what lags, the inspector and the replay beside it.

import { Fault } from './api.js'
import { button, clear, el, setData } from './dom.js'
import { Inspector } from './inspector.js'
import { trusted } from './json.js'
import { Model } from './model.js'
import { Replay } from './replay.js'
import * as rows from './rows.js'
import { copy, say } from './status.js'
import { keep, placeOf } from './place.js'
import { finish } from './cards/message.js'
import { oneLine } from './visible.js'
import { count, span } from './when.js'
import { Window } from './window.js'
import { head } from './head.js'

/** Transcript shows a transcript until it is closed. */
export class Transcript {
  /** @param {HTMLElement} main @param {string} key @param {URL} url */
  constructor(main, key, url) {
    this.key = key
    this.main = main
    this.wanted = wantedSeq(url)
    this.until = Infinity
    this.limit = Infinity // items that a replay shows
    this.target = null
    this.selected = null
    this.records = false
    this.typing = null // when pieces came, up to typingTo
    this.typingTo = { seen: 0, last: NaN } // number of the last event then, and the fold's last time
    this.seconds = 0
    this.told = 0 // number of the last event that was looked at for what is said aloud
    this.model = new Model(key, () => this.changed())
    this.draw()
    this.open()
    this.ticks = setInterval(() => this.tick(), 1000)
    this.leaves = () => this.keepPlace()
    this.prints = () => {
      this.window.whole(true)
      finish(this.sheet)
    }
    this.printed = () => this.window.whole(false)
    addEventListener('pagehide', this.leaves)
    addEventListener('beforeprint', this.prints)
    addEventListener('afterprint', this.printed)
  }

  get fold() { return this.model.fold }

  draw() {
    this.heading = el('header.heading')
    this.notice = el('p.lag', { hidden: true })
    this.sheet = el('div.sheet', { role: 'feed', 'aria-label': 'What was said', data: { items: true } })
    this.note = el('p.loading', { hidden: true })
    this.scroller = el('div.scroller', { tabindex: '0', role: 'region', 'aria-label': 'Transcript', data: { scroller: true } }, this.sheet)
    this.pill = button('follow', 'Go to the end', () => this.toEnd(), el('span', { data: { pillText: true } }))
    this.pill.classList.add('pill')
    setData(this.pill, { pill: true })
    this.pill.hidden = true
    this.inspector = new Inspector(this)
    this.replay = new Replay(this)
    clear(this.main).append(el('section.transcript', { 'aria-label': 'Transcript' },
      this.heading, this.notice, el('div.pane', null, el('div.column', null, this.scroller, this.note, this.pill), this.inspector.element), this.replay.element))
    this.window = new Window(this.scroller, this.sheet, {
      items: () => this.fold.items, count: () => Math.min(this.limit, this.fold.items.length), shown: (item) => this.isShown(item),
      indexOf: (item) => this.fold.index(item), guess, make: (item, i) => rows.make(this, item, i), update: (row, item, i) => rows.update(this, row, item, i),
      scrolled: () => this.scrolled(),
    })
    this.sheet.addEventListener('click', (e) => this.clicked(e))
  }

  async open() {
    try {
      const kept = placeOf(this.key)
      const place = this.wanted > 0 && !kept?.reload ? null : kept
      const m = this.model
      await m.open({ seq: place?.seq ?? this.wanted, tail: place !== null ? place.follow : this.wanted === 0 ? 'live' : false })
      this.begin(place ?? (m.summary.status === 'open' && this.wanted === 0 ? { follow: true } : null))
      await this.drawn()
      await m.run()
    } catch (e) {
      if (e.name === 'AbortError') return
      this.failed(e)
    }
  }

  // begin shows the first events at the place that is wanted.
  begin(place) {
    this.started = true
    this.drawHead()
    this.changed()
    if (this.wanted > 0 && !this.toSeq(this.wanted)) this.lacks(this.wanted)
    if (this.wanted > 0 && place === null) return this.ready()
    if (place?.follow) this.window.toEnd()
    else if (place?.seq > 0) this.restore(place)
    else this.window.toStart()
    this.ready()
  }

  // drawn ends when the browser has drawn what there is: it has enough to do. Where nobody looks it draws nothing.
  drawn() {
    return new Promise((resolve) => {
      if (document.hidden) resolve()
      else requestAnimationFrame(() => requestAnimationFrame(resolve))
      setTimeout(resolve, 250)
    })
  }

  // lacks says that an event that the address names is not there.
  lacks(seq) {
    this.missing = 'There is no event ' + seq + ' here; the last one is ' + this.model.head + '.'
    this.showLag()
  }

  // ready says that what was asked for is shown, once all of it is that is in sight.
  ready() {
    if (this.closed) return
    if (this.window.isShort && !document.hidden) {
      requestAnimationFrame(() => this.ready())
      return
    }
    document.body.dataset.ready = ''
    this.scroller.focus({ preventScroll: true, focusVisible: false })
  }

  restore(place) {
    const item = this.fold.itemOf[place.seq]
    if (item === undefined) return this.window.toStart()
    this.window.follow = false
    this.window.anchor = { item, offset: place.offset }
    this.window.frame()
  }

  failed(e) {
    delete document.body.dataset.connection
    const gone = e instanceof Fault && e.code === 'not_found'
    if (gone) document.body.dataset.view = 'missing'
    if (!(e instanceof Fault)) console.error(e)
    clear(this.main).append(el('section.message-page', { data: { error: e.code ?? 'unknown' } }, el('h1', null, gone ? 'There is no such transcript here' : 'The transcript cannot be read'),
      el('p', null, gone ? 'It may be in another data directory, or in a namespace that is not served.' : e.message),
      el('p', null, el('a', { href: '/' }, 'All transcripts'), gone ? null : button('retry', 'Try again', () => location.reload()))))
    document.body.dataset.ready = ''
  }

  close() {
    this.closed = true
    this.model.close()
    this.head?.close()
    this.window.close()
    this.replay.close()
    this.inspector.close()
    clearInterval(this.ticks)
    clearTimeout(this.keeping)
    removeEventListener('pagehide', this.leaves)
    removeEventListener('beforeprint', this.prints)
    removeEventListener('afterprint', this.printed)
    delete document.body.dataset.connection
    delete document.body.dataset.mode
  }

  // What the rows ask.

  isShown(item) { return !item.hidden || this.records }

  get first() { return this.model.summary?.first_at ? Date.parse(this.model.summary.first_at) : this.fold.first }

  get agent() { return this.model.summary?.protocol === 'a2a' ? this.fold.peer || this.model.summary.agent : '' }

  /** stored is an item's own event, read: {kind, text?}. */
  stored(item) {
    if (item.own?.seq !== item.seq) item.own = { seq: item.seq, kind: trusted(this.model.texts[item.seq] ?? '{}').get('kind'), text: undefined }
    return item.own
  }

  countUntil(item) {
    if (this.until === Infinity) return item.seqs.length
    let n = 0
    while (n < item.seqs.length && this.fold.atOf[item.seqs[n]] <= this.until) n++
    return n
  }

  /** beginOf is when an item began, in ms: exactly where that is known. */
  beginOf(item) {
    const pieces = this.typing?.of(item)
    if (pieces !== undefined) return this.first + pieces[0][0]
    if (item.open || item.typed || item.place === item.worker) return item.at
    if (this.typing !== null && item.seq <= this.typingTo.seen && messages.has(item.kind)) return item.end // it came whole
    return this.fold.timeAt(item.place)
  }

  isExact(item) { return item.typed || item.open && item.fromPieces || this.typing?.of(item) !== undefined || this.fold.knows(item.place) }

  /** knowsTyping reports whether it was read when all pieces came that are here. */
  knowsTyping() { return this.typingTo.seen >= this.model.seen && (this.fold.open.size === 0 || this.typingTo.last === this.fold.last) }

  /** typedUntil is how much of an item's text had come by the moment that is shown, of so many characters. */
  typedUntil(item, length) {
    const end = this.endOf(item)
    if (this.until === Infinity || end <= this.until) return length
    let from = this.beginOf(item)
    let n = 0
    const pieces = this.typing?.of(item)
    if (pieces !== undefined) {
      for (const [at, to] of pieces) {
        if (this.first + at > this.until) return Math.min(n, length)
        n = to
        from = this.first + at
      }
      if (!item.open) return Math.min(n, length)
    }
    if (end <= from || n >= length) return Math.min(n, length)
    return n + Math.floor((length - n) * Math.min(1, Math.max(0, (this.until - from) / (end - from)))) // as if it came evenly
  }

  // endOf is when the last there is of an item came. The page may have met what is open after that.
  endOf(item) {
    const pieces = item.open ? this.typing?.of(item) : undefined
    return pieces === undefined ? item.end : Math.max(item.end, this.first + pieces.at(-1)[0])
  }

  isTyping(item) { return this.until !== Infinity && this.endOf(item) > this.until && (item.kind === 'agent' || item.kind === 'thought' || item.kind === 'message') }

  since(item) { return this.beginOf(item) - this.first }

  tookMs(item) {
    const until = Math.min(this.until, item.open ? this.fold.last : item.end)
    const ms = until - this.beginOf(item)
    return ms >= 0 ? ms : null
  }

  isOlder(item) { return item.next !== undefined && (this.until === Infinity || item.next.at <= this.until) }

  /** turnMs is how long the turn was that an item ends. */
  turnMs(item) {
    const all = this.fold.items
    for (let i = this.fold.index(item) - 1, n = 0; i >= 0 && n < 5000; i--, n++) {
      if (all[i].kind === 'stop' && all[i].task === item.task) return null
      if (all[i].kind === 'user') return span(item.at - all[i].at)
    }
    return null
  }

  keyOf(item) {
    const key = item.rev + '/' + item.hidden + '/' + this.isOlder(item) + '/' + (this.typing?.turn ?? 0)
    if (this.until === Infinity) return key
    return key + '/' + this.countUntil(item) + (this.isTyping(item) ? '/' + this.typedUntil(item, 1 << 28) : '')
  }

  /** taskBegins is the task whose items begin here, where there are several; else empty. */
  taskBegins(item, index) {
    if (this.fold.tasks.size < 2 || item.task === '' || item.kind === 'record' || item.hidden) return ''
    const all = this.fold.items
    for (let i = index - 1, n = 0; i >= 0 && n < 2000; i--, n++) {
      const before = all[i]
      if (before.hidden || before.kind === 'record' || before.task === '') continue
      return before.task === item.task ? '' : item.task
    }
    return item.task
  }

  // What changes.

  changed() {
    if (!this.started || this.closed) return
    const fold = this.fold
    if (this.seenFold !== fold) {
      this.seenFold = fold
      this.swapped()
    }
    this.window.changed(fold.changedFrom)
    fold.changedFrom = Infinity
    if (this.asked) return
    this.asked = requestAnimationFrame(() => {
      this.asked = 0
      if (!this.closed) this.show()
    })
  }

  // swapped finds again, in another fold, what the reader looks at.
  swapped() {
    const again = (item) => (item === null || item === undefined ? null : this.fold.same(item))
    const w = this.window
    for (const of of [w, this.replay.before]) {
      const item = again(of?.anchor?.item)
      if (of?.anchor) of.anchor = item === null ? null : { item, offset: of.anchor.offset }
    }
    this.target = again(this.target)
    this.selected = again(this.selected)
    this.counted = undefined
    w.swapped()
  }

  show() {
    const m = this.model
    const fold = this.fold
    setData(this.sheet, { total: fold.shown, loaded: m.behind === null ? m.loaded : m.seen, complete: m.complete })
    this.sheet.setAttribute('aria-busy', String(!m.complete))
    document.body.dataset.connection = m.connection
    this.note.hidden = m.complete && fold.items.length > 0
    if (!this.note.hidden) this.note.textContent = m.complete ? 'Nothing was said yet.' : m.fault ? m.fault.message + ' Trying again.' : 'Reading: ' + m.loaded.toLocaleString('en-US') + ' of ' + count(m.head, 'event')
    this.showLag()
    this.showHead()
    this.showPill()
    this.replay.changed()
    this.inspector.changed()
    this.tell()
  }

  // tell says of what came since the last time what nobody should miss: the end of a turn, a permission that waits.
  tell() {
    const m = this.model
    const live = m.complete && m.connection === 'live'
    let words = ''
    for (let seq = live ? this.told + 1 : m.seen + 1; seq <= m.seen; seq++) {
      const kind = this.fold.itemOf[seq]?.kind
      if (kind === 'stop') words = 'The turn has ended.'
      if (kind !== 'tool' && kind !== 'permission') continue
      const { source, value } = m.parsed(seq).kind
      if (source === 'session/request_permission') words = 'The agent asks for permission: ' + oneLine(value?.toolCall?.title ?? 'of what, it does not say')
      else if (source === 'session/request_permission/decision') words = ''
    }
    this.told = m.seen
    if (words !== '') say(words)
  }

  showLag() {
    const { lag, connection } = this.model
    let words = ''
    let reason = ''
    if (connection === 'broken') {
      reason = 'disconnected'
      words = 'The connection is broken: what is shown may be behind. It is tried again.'
    } else if (lag !== null) {
      reason = lag.reason
      words = lags[lag.reason]?.(lag) ?? 'What is shown may be behind: ' + oneLine(lag.reason)
    } else if (this.missing !== undefined) {
      reason = 'missing'
      words = this.missing
    }
    if ((this.notice.dataset.lag ?? '') === reason && this.notice.textContent === words) return
    this.notice.hidden = words === ''
    if (words === '') delete this.notice.dataset.lag
    else this.notice.dataset.lag = reason
    clear(this.notice).append(words)
    if (words !== '') say(words)
  }

  drawHead() {
    this.head = head(this)
    this.heading.replaceChildren(...this.head.nodes)
  }

  showHead() { this.head.update() }

  showPill() {
    const w = this.window
    const shown = this.fold.shown
    if (w.follow || this.counted === undefined) this.counted = shown
    const n = Math.max(0, shown - this.counted)
    this.pill.hidden = w.follow || this.until !== Infinity || n === 0 && !(this.model.connection === 'live' && this.fold.open.size > 0 && !w.atEnd())
    this.pill.firstChild.textContent = n > 0 ? n + ' new' : 'typing below'
    this.pill.dataset.count = n
  }

  tick() {
    const now = Date.now()
    if (this.model.connection === 'live' && !document.hidden && ++this.seconds % 5 === 0) this.model.refresh()
    for (const e of this.sheet.querySelectorAll('[data-since]')) {
      const ms = now - Number(e.dataset.since)
      if (ms > 0 && this.model.connection === 'live') e.textContent = ' · ' + span(ms)
    }
  }

  // Where the reader is.

  scrolled() {
    if (this.until === Infinity) this.replay.reading()
    this.showPill()
    this.keeping ||= setTimeout(() => this.keepPlace(), 300)
  }

  /** keepPlace remembers where the reader is. */
  keepPlace() {
    clearTimeout(this.keeping)
    this.keeping = 0
    if (!this.started || this.until !== Infinity) return
    const w = this.window
    const item = w.anchor?.item
    keep(this.key, w.follow ? { follow: true } : item?.seq ? { seq: item.seq, offset: w.anchor.offset } : null)
  }

  toEnd() {
    if (this.until !== Infinity) this.replay.leave()
    this.window.toEnd()
    this.keepPlace()
    this.showPill()
    this.replay.showReading()
  }

  /** toSeq goes to the item of a stored event. */
  toSeq(seq) {
    let item = this.fold.itemOf[seq]
    if (item === undefined) return false
    if (!this.isShown(item)) {
      if (item.owner !== undefined && this.isShown(item.owner)) item = item.owner
      else this.showRecords(true)
    }
    this.target = item
    this.window.toItem(item)
    return true
  }

  showRecords(on) {
    this.records = on
    this.head?.update()
    const anchor = this.window.anchor
    if (anchor !== null && !this.isShown(anchor.item)) this.window.anchor = null
    this.window.changed(0)
  }

  // Selection.

  select(item, inspect = false) {
    this.selected = item
    this.window.ask()
    if (item !== null && (inspect || this.inspector.isOpen)) this.inspector.show(item)
  }

  // step selects the next item, or the one before: of a kind, if one is given.
  step(by, kind) {
    const all = this.fold.items
    const end = Math.min(this.limit, all.length)
    let i = this.selected === null ? this.fold.index(this.window.anchor?.item ?? all[0]) - (by > 0 ? 1 : 0) : this.fold.index(this.selected)
    do i += by
    while (i >= 0 && i < end && (!this.isShown(all[i]) || kind !== undefined && all[i].kind !== kind))
    if (i < 0 || i >= end) return
    this.select(all[i])
    this.window.reveal(all[i])
    requestAnimationFrame(() => this.window.rows.get(all[i])?.focus({ preventScroll: true }))
  }

  clicked(e) {
    const row = e.target.closest('[data-item]')
    if (row === null) return
    if (e.target.closest('[data-select]')) this.select(row.item, true)
    else if (e.target.closest('[data-permalink]')) {
      if (e.metaKey || e.ctrlKey || e.shiftKey) return
      e.preventDefault()
      history.replaceState(history.state, '', '?seq=' + row.item.seq)
      this.target = row.item
      this.window.ask()
      say('The address of this page now leads to event ' + row.item.seq + '.')
    } else if (!e.target.closest('a, button, summary, input, [tabindex="0"]') && getSelection().isCollapsed) this.select(row.item)
  }

  /** press does what a key says here; false if it says nothing. */
  press(e) {
    const item = this.selected
    switch (e.key) {
      case 'j': case 'ArrowDown': if (e.key === 'ArrowDown' && item === null) return false; this.step(1); return true
      case 'k': case 'ArrowUp': if (e.key === 'ArrowUp' && item === null) return false; this.step(-1); return true
      case 'J': this.step(1, 'user'); return true
      case 'K': this.step(-1, 'user'); return true
      case 'Enter': if (item === null) return false; this.inspector.isOpen && this.inspector.item === item ? this.inspector.hide() : this.select(item, true); return true
      case 'o': this.foldSelected(); return true
      case 'c': this.copyLink(); return true
      case 'r': this.showRecords(!this.records); return true
      case 'g':
        this.window.toStart()
        this.keepPlace()
        this.replay.showReading()
        return true
      case 'G': this.toEnd(); return true
      case 'Escape':
        if (this.inspector.isOpen) this.inspector.hide()
        else if (this.until !== Infinity) this.replay.leave()
        else if (item !== null) this.select(null)
        else return false
        return true
    }
    return this.replay.press(e)
  }

  foldSelected() {
    const row = this.window.rows.get(this.selected)
    const all = row === undefined ? [] : [...row.querySelectorAll('details')]
    const open = all.some((d) => d.open)
    for (const d of all) {
      d.open = !open
      this.selected.folds?.set(d.dataset.fold, d.open)
    }
  }

  copyLink() {
    const item = this.selected ?? this.window.anchor?.item
    if (!item?.seq) return
    copy(location.origin + location.pathname + '?seq=' + item.seq, 'Link copied.')
  }
}

const messages = new Set(['user', 'agent', 'message', 'thought'])

const lags = {
  __proto__: null,
  behind: (l) => 'What is shown is ' + count(l.events, 'event') + ' behind.',
  missed: () => 'Pieces of text were lost on the way; all of it follows.',
  slow: () => 'This browser is slow: pieces of text were left out; all of it follows.',
  disconnected: () => 'The server has lost its streams: what is shown may be behind.',
  reconnected: () => 'The server has its streams again; what is open follows.',
  no_owner: () => 'Nobody translates this recording at the moment: text that is being typed is not shown.',
  parked: (l) => 'This recording is parked: it is kept, and not translated further. ' + oneLine(l.detail),
}

function wantedSeq(url) {
  const n = Number(url.searchParams.get('seq') ?? (/^#(\d+)$/.exec(url.hash) ?? [])[1] ?? 0)
  return Number.isSafeInteger(n) && n > 0 ? n : 0
}

// guess is how high an item's row will be, more or less.
function guess(item, width) {
  const perLine = Math.max(30, Math.min(92, (width - 180) / 7.4))
  switch (item.kind) {
    case 'user': case 'agent': case 'message': return 28 + Math.ceil(Math.min(item.size, 60_000) / perLine) * 23
    case 'tool': return item.asks > 0 ? 150 : 110
    case 'plan': return item.next === undefined ? 40 + item.size * 24 : 34
    case 'permission': return 70
    case 'noise': return 90
    case 'thought': return 34
    case 'stop': return 40
  }
  return 26
}

