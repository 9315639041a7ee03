// What a search found: each hit with its words, leading to where they were said.

import { json, query } from './api.js'
import { button, clear, el, setData, text } from './dom.js'
import { filterBar, readFilters } from './filters.js'
import { titleOf } from './summary.js'
import { oneLine } from './visible.js'
import { count, moment } from './when.js'

export class Search {
  /** @param {HTMLElement} main @param {URL} url */
  constructor(main, url) {
    this.main = main
    this.q = url.searchParams.get('q') ?? ''
    this.filters = readFilters(url)
    this.next = ''
    this.found = 0
    this.abort = new AbortController()
    document.title = this.q === '' ? 'Search · steno' : this.q + ' · steno'
    this.bar = filterBar(this.filters, (f) => this.filter(f), ['text'])
    this.list = el('div.hits')
    this.notice = el('div', { role: 'status' })
    this.total = el('span.aside')
    this.more = el('p.more-line', { hidden: true }, 'Reading more …')
    clear(main).append(el('section.list', { 'aria-labelledby': 'search-title' }, el('header.list-head', null, el('h1', { id: 'search-title' }, this.q === '' ? 'Search' : 'What was said of “' + oneLine(this.q) + '”'), this.total), this.bar.element, this.notice, this.list, this.more))
    this.watcher = new IntersectionObserver((entries) => { if (entries.some((e) => e.isIntersecting)) this.load() }, { root: main, rootMargin: '600px' })
    this.load(true).then(() => this.watcher.observe(this.more))
  }

  filter(filters) {
    this.filters = filters
    history.replaceState(history.state, '', '/search' + query({ q: this.q, ...filters }))
    this.abort.abort()
    this.abort = new AbortController()
    this.loading = false
    clear(this.list)
    this.found = 0
    this.group = undefined
    this.load(true)
  }

  async load(first = false) {
    if (this.q === '') {
      document.body.dataset.ready = ''
      clear(this.notice).append(el('div.empty', { data: { empty: true } }, el('p', null, 'Every word must be there; what is in quotation marks, as a phrase.')))
      return
    }
    if (this.loading || !first && this.next === '') return
    this.loading = true
    const signal = this.abort.signal
    try {
      const p = await json('/v1/search' + query({ q: this.q, ...this.filters, limit: 50, after: first ? '' : this.next }), signal)
      this.next = p.next
      for (const h of p.hits) this.add(h)
      clear(this.notice)
      if (p.indexing?.behind > 0) this.notice.append(el('p.notice', null, count(p.indexing.behind, 'event') + ' are stored and not indexed yet: there may be more to find in a moment.'))
      if (this.found === 0 && this.next === '') this.notice.append(el('div.empty', { data: { empty: true } }, el('p.empty-title', null, 'Nothing was found'), el('p', null, 'Every word must be there; what is in quotation marks, as a phrase. Fewer words find more.')))
    } catch (e) {
      if (e.name === 'AbortError') return
      this.loading = false
      document.body.dataset.ready = ''
      clear(this.notice).append(el('p.notice', { data: { error: e.code ?? 'unknown' } }, e.message, ' ', button('retry', 'Try again', () => this.load(first))))
      return // it is asked again when the reader wants it
    }
    if (signal.aborted) return
    this.loading = false
    this.more.hidden = this.next === ''
    this.total.textContent = this.found === 0 ? '' : count(this.found, 'hit') + (this.next === '' ? '' : ' so far')
    document.body.dataset.ready = ''
    if (this.next !== '' && this.more.getBoundingClientRect().top < innerHeight + 600) this.load()
  }

  add(h) {
    this.found++
    const t = h.transcript
    if (this.group?.key !== t.key) {
      const list = el('ol')
      this.group = { key: t.key, list }
      this.list.append(el('section.hit-group', null, el('h2', { dir: 'auto' }, el('a', { href: '/t/' + t.key }, titleOf(t))),
        el('p.aside', null, [t.protocol, oneLine(t.agent), t.status].filter(Boolean).join(' · ')), list))
    }
    const snippet = el('span.snippet', { dir: 'auto' })
    for (const [s, matches] of marked(h.snippet, h.matches ?? [])) {
      const into = matches ? el('mark') : snippet
      text(into, s)
      if (matches) snippet.append(into)
    }
    const a = el('a.hit', { href: '/t/' + t.key + '?seq=' + h.store_seq }, el('span.hit-head', null, el('span.hit-who', { data: { kind: kindOf(h) } }, speaker(h)), el('span.hit-seq', null, '#' + h.store_seq), el('time', { datetime: h.at, title: moment(new Date(h.at)) }, moment(new Date(h.at)).replace(/ \(.*/, ''))), snippet)
    const li = el('li', null, a)
    setData(li, { hit: true, key: t.key, seq: h.store_seq })
    this.group.list.append(li)
  }

  /** press does what a key says here. */
  press(e) {
    const links = [...this.list.querySelectorAll('a.hit')]
    const i = links.indexOf(document.activeElement)
    switch (e.key) {
      case 'j': case 'ArrowDown': links[Math.min(links.length - 1, i + 1)]?.focus(); return true
      case 'k': case 'ArrowUp': if (i > 0) links[i - 1].focus(); return true
    }
    return false
  }

  close() {
    this.abort.abort()
    this.bar.stop()
    this.watcher.disconnect()
  }
}

/** marked cuts a text at ranges of its UTF-8 bytes: [text, whether it matches]. */
export function marked(s, ranges) {
  const bytes = new TextEncoder().encode(s)
  const decode = (from, to) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to))
  const out = []
  let at = 0
  for (const [from, to] of ranges) {
    if (from < at || to <= from) continue
    if (from > at) out.push([decode(at, from), false])
    out.push([decode(from, to), true])
    at = to
  }
  if (at < bytes.length) out.push([decode(at, bytes.length), false])
  return out
}

const kinds = { __proto__: null, ToolCall: 'tool', ToolState: 'tool', ToolResult: 'tool’s result', Raw: 'tool’s edit', Stop: 'end of the turn', Progress: 'note' }

function speaker(h) {
  if (h.channel === 'thought') return 'thought'
  if (h.role === 'User') return 'user'
  if (h.role === 'Assistant') return 'agent'
  if (h.role) return oneLine(h.role.toLowerCase())
  return (kinds[h.kind] ?? oneLine(h.kind)) + (h.tool && kinds[h.kind] === 'tool' ? ' ' + oneLine(h.tool) : '')
}

function kindOf(h) {
  if (h.channel === 'thought') return 'thought'
  return { __proto__: null, User: 'user', Assistant: 'agent' }[h.role] ?? 'tool'
}
