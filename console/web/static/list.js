// The list of transcripts, the newest first, as it stands now: what is live says so, and what is new comes on top.

import { Fault, json, query } from './api.js'
import { button, clear, el, setData } from './dom.js'
import { filterBar, readFilters } from './filters.js'
import { say } from './status.js'
import { idleOf, statusOf, titleOf } from './summary.js'
import { oneLine } from './visible.js'
import { count, day, minute, moment, span } from './when.js'

const every = 2000 // ms between two looks at the first page
const page = 100
const start = { after: '', above: Infinity } // the first page

export class List {
  /** @param {HTMLElement} main @param {URL} url */
  constructor(main, url) {
    this.main = main
    this.filters = readFilters(url)
    this.rows = new Map() // key → {element, row}
    this.next = ''
    this.walk = start // where the next look at the rows goes on
    this.connections = false // what has no message is shown, too
    this.abort = new AbortController()
    document.title = 'steno'
    this.draw()
    this.load()
    this.seen = () => this.look()
    document.addEventListener('visibilitychange', this.seen)
  }

  draw() {
    this.bar = filterBar(this.filters, (f) => this.filter(f))
    this.list = el('div.rows', { role: 'list', data: { list: true } })
    this.more = el('p.more-line', { hidden: true }, 'Reading more …')
    this.notice = el('div')
    this.total = el('span.aside')
    this.quiet = button('connections', 'Show connections and sessions without a message, too', () => this.withConnections(!this.connections), 'with connections')
    this.quiet.setAttribute('aria-pressed', 'false')
    clear(this.main).append(el('section.list', { 'aria-labelledby': 'list-title' },
      el('header.list-head', null, el('h1', { id: 'list-title' }, 'Transcripts'), this.total, this.quiet), this.bar.element, this.notice, this.list, this.more))
    this.watcher = new IntersectionObserver((entries) => { if (entries.some((e) => e.isIntersecting)) this.loadMore() }, { root: this.main, rootMargin: '600px' })
    this.watcher.observe(this.more)
  }

  filter(filters) {
    this.filters = filters
    this.bar.set(filters)
    history.replaceState(history.state, '', '/' + query(filters))
    this.abort.abort()
    this.abort = new AbortController()
    this.loading = false
    this.next = ''
    this.walk = start
    this.rows.clear()
    clear(this.list)
    this.load()
  }

  async load() {
    clearTimeout(this.timer)
    try {
      const p = await json('/v1/transcripts' + query({ ...this.filters, limit: page }), this.abort.signal)
      clear(this.notice)
      const first = this.rows.size === 0
      this.take(p.transcripts)
      if (first) this.next = p.next
      const below = this.agree(p, Infinity)
      if (this.walk.after === '') this.walk = below
      else await this.further()
      this.tell()
      this.empty()
      this.fill()
    } catch (e) {
      if (e.name === 'AbortError') return
      this.failed(e)
    }
    if (document.body.dataset.ready === undefined) this.main.scrollTop = history.state?.top ?? 0
    document.body.dataset.ready = ''
    this.timer = setTimeout(() => this.look(), every)
  }

  // further looks at one page more of those that are here: a row may change wherever it stands.
  async further() {
    const walk = this.walk
    if (walk.after === '') return
    const p = await json('/v1/transcripts' + query({ ...this.filters, limit: page, after: walk.after }), this.abort.signal)
    this.take(p.transcripts)
    this.walk = this.agree(p, walk.above)
  }

  // agree takes away the rows that a page has no more, of those between it and the page above. It gives where the next
  // page is, if rows are there.
  agree(p, above) {
    const last = p.next === '' ? -Infinity : this.rows.get(p.transcripts.at(-1).key).at
    const there = new Set(p.transcripts.map((t) => t.key))
    let more = false
    for (const [key, r] of this.rows) {
      more ||= r.at < last
      if (r.at >= above || r.at <= last || there.has(key)) continue
      r.element.remove()
      this.rows.delete(key)
    }
    if (p.next === '') this.next = ''
    return more ? { after: p.next, above: last } : start
  }

  look() {
    clearTimeout(this.timer)
    if (!document.hidden && !this.closed) this.load()
  }

  async loadMore() {
    if (this.loading || this.next === '' || this.rows.size === 0) return
    this.loading = true
    const signal = this.abort.signal
    try {
      const p = await json('/v1/transcripts' + query({ ...this.filters, limit: page, after: this.next }), signal)
      this.next = p.next
      this.take(p.transcripts)
    } catch (e) {
      if (e.name === 'AbortError') return
      this.loading = false
      this.failed(e)
      return // the next look that is answered goes on
    }
    if (signal.aborted) return
    this.loading = false
    this.tell()
    this.fill()
  }

  // fill reads more where the view has room for it.
  fill() {
    if (this.next !== '' && this.more.getBoundingClientRect().top < innerHeight + 600) this.loadMore()
  }

  isHidden(r) { return r.t.empty === true && !this.connections }

  withConnections(on) {
    this.connections = on
    this.quiet.setAttribute('aria-pressed', String(on))
    for (const r of this.rows.values()) this.show(r)
    this.tell()
    this.empty()
    this.fill()
  }

  // take puts rows where they belong: a page is in the list's order.
  take(transcripts) {
    for (const t of transcripts) {
      const known = this.rows.get(t.key)
      if (known === undefined) this.insert(t)
      else if (known.text !== JSON.stringify(t)) {
        known.t = t
        known.text = JSON.stringify(t)
      }
      this.show(this.rows.get(t.key))
    }
  }

  // tell says how many rows are shown, and of which days.
  tell() {
    this.days()
    let n = 0
    for (const r of this.rows.values()) if (!this.isHidden(r)) n++
    this.shown = n
    this.more.hidden = this.next === ''
    setData(this.list, { count: n, end: this.next === '' })
    const words = n === 0 ? '' : count(n, 'transcript') + (this.next === '' ? '' : ' so far')
    if (this.total.textContent !== words) this.total.textContent = words
  }

  insert(t) {
    const r = { t, text: JSON.stringify(t), element: el('div.row', { role: 'listitem' }) }
    this.rows.set(t.key, r)
    const at = Date.parse(t.added_at ?? 0)
    r.at = Number.isNaN(at) ? 0 : at
    r.link = el('a.title', { dir: 'auto' })
    const name = el('span.name', null, r.link)
    r.parts = { status: el('span.badge'), with: el('span.with'), counts: el('span.counts'), when: el('span.when'), labels: el('span.labels') }
    name.append(r.parts.labels)
    r.element.append(r.parts.status, name, r.parts.with, r.parts.counts, r.parts.when)
    for (const e of this.list.querySelectorAll(':scope > [data-key]')) {
      if (this.rows.get(e.dataset.key).at < r.at) {
        this.list.insertBefore(r.element, e)
        return
      }
    }
    this.list.append(r.element)
  }

  show(r) {
    const { t, element, link, parts } = r
    const idle = idleOf(t)
    const [status, means] = statusOf(t)
    element.hidden = this.isHidden(r)
    setData(element, { key: t.key, status: t.status, idle: idle !== '', quiet: t.empty })
    setData(parts.status, { status: t.status, idle: idle !== '' })
    words(parts.status, idle || status)
    parts.status.title = means
    link.href = '/t/' + t.key
    words(link, titleOf(t))
    link.classList.toggle('untitled', !t.title)
    link.title = t.key
    words(parts.with, oneLine(t.agent) || 'agent')
    parts.with.dataset.protocol = t.protocol
    const labels = Object.entries(t.labels ?? {}).map(([k, v]) => oneLine(k) + '=' + oneLine(v))
    if (r.labels !== labels.join('|')) {
      r.labels = labels.join('|')
      parts.labels.replaceChildren(...labels.map((l) => el('span.label', null, l)))
    }
    words(parts.counts, count(t.events, 'event') + (t.unaccounted ? ' · ' + count(t.unaccounted, 'frame') + ' unaccounted' : ''))
    parts.counts.title = count(t.frames, 'frame')
    const at = new Date(t.added_at ?? t.first_at ?? 0)
    const took = t.first_at && t.last_at ? span(Date.parse(t.last_at) - Date.parse(t.first_at)) : ''
    words(parts.when, minute(at) + (took === '' ? '' : ' · ' + took))
    parts.when.title = 'recorded ' + moment(at)
  }

  // days writes which day rows are of.
  days() {
    let before = ''
    for (const e of [...this.list.children]) {
      if (e.dataset.day !== undefined) {
        e.remove()
        continue
      }
      const r = this.rows.get(e.dataset.key)
      if (this.isHidden(r)) continue
      const d = r.at === 0 ? '' : day(new Date(r.at))
      if (d !== before && d !== '') this.list.insertBefore(el('h2.day', { data: { day: d } }, d), e)
      before = d
    }
  }

  empty() {
    if (this.shown > 0) {
      this.notice.querySelector('[data-empty]')?.remove()
      return
    }
    const filtered = Object.keys(this.filters).length > 0
    clear(this.notice).append(el('div.empty', { data: { empty: true } }, ...(filtered
      ? [el('p.empty-title', null, 'Nothing is like that'), el('p', null, 'No transcript fits these filters.'),
        button('clear-filters', 'Show all transcripts', () => { for (const c of this.bar.element.querySelectorAll('[data-filter]')) c.value = ''; this.filter({}) })]
      : this.rows.size > 0
        ? [el('p.empty-title', null, 'Nothing was said yet'), el('p', null, 'There are connections, and sessions without a message.')]
        : [el('p.empty-title', null, 'Nothing was recorded yet'), el('p', null, 'Put steno in front of an agent, wherever its client starts it; it appears here at its first word:'),
        el('pre', null, 'steno record -- AGENT'), el('p', null, 'Or import a recording:'), el('pre', null, 'steno import FILE')])))
  }

  failed(e) {
    if (!(e instanceof Fault)) throw e
    const words = e.code === 'unreachable' ? 'The server does not answer. Is steno up running? It is asked again.' : e.message
    if (this.notice.textContent !== words) say(words)
    clear(this.notice).append(el('p.notice', { data: { error: e.code ?? 'unknown' } }, words, ' ', button('retry', 'Try again', () => this.load())))
  }

  /** keepPlace remembers how far the reader had scrolled. */
  keepPlace() { history.replaceState({ ...history.state, top: this.main.scrollTop }, '') }

  /** press does what a key says here. */
  press(e) {
    const links = [...this.list.querySelectorAll('.row:not([hidden]) a.title')]
    const i = links.indexOf(document.activeElement)
    switch (e.key) {
      case 'j': case 'ArrowDown': links[Math.min(links.length - 1, i + 1)]?.focus(); return true
      case 'k': case 'ArrowUp': if (i > 0) links[i - 1].focus(); return true
      case 'g': links[0]?.focus(); return true
      case 'G': links.at(-1)?.focus(); return true
    }
    return false
  }

  close() {
    this.closed = true
    this.abort.abort()
    clearTimeout(this.timer)
    this.bar.stop()
    this.watcher.disconnect()
    document.removeEventListener('visibilitychange', this.seen)
  }
}

function words(e, s) {
  if (e.textContent !== s) e.replaceChildren(s)
}
