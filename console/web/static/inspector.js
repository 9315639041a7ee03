// The inspector: an item's stored events and the frames that they were made of, byte for byte, beside the transcript.

import { of, text as ask } from './api.js'
import { button, clear, el, text } from './dom.js'
import { elements, pretty, read, trusted } from './json.js'
import { copy as copyText } from './status.js'
import { oneLine } from './visible.js'
import { clock, count, size } from './when.js'

const framesAtOnce = 40
const shownAtOnce = 30_000 // characters of one event or frame

export class Inspector {
  /** @param {Transcript} view */
  constructor(view) {
    this.view = view
    this.item = null
    this.isOpen = false
    this.title = el('h2', null, 'Inspector')
    this.body = el('div.inspector-body', { tabindex: '0', role: 'region', 'aria-label': 'Events and frames' })
    this.element = el('aside.inspector', { 'aria-label': 'Inspector', hidden: true }, el('header', null, this.title, button('close', 'Close the inspector (Esc)', () => this.hide(), '×')), this.body)
  }

  show(item) {
    if (!this.isOpen) this.before = document.activeElement
    this.isOpen = true
    this.element.hidden = false
    this.element.dataset.inspector = ''
    if (this.item === item && this.rev === item.rev) return
    this.item = item
    this.rev = item.rev
    this.abort?.abort()
    this.abort = new AbortController()
    this.draw()
  }

  hide() {
    this.isOpen = false
    this.item = null
    this.element.hidden = true
    delete this.element.dataset.inspector
    this.abort?.abort()
    if (this.before?.isConnected) this.before.focus({ preventScroll: true })
  }

  /** changed: the item that is shown may have more events now. */
  changed() {
    if (this.isOpen && this.item !== null && this.item.rev !== this.rev && !this.item.open) this.show(this.item)
  }

  close() { this.abort?.abort() }

  draw() {
    const item = this.item
    const seqs = this.events(item)
    this.title.replaceChildren(item.kind === 'tool' ? 'tool ' + oneLine(item.tool) : item.kind)
    const frames = el('section', null, el('h3', null, 'Frames'))
    const top = this.body.scrollTop
    clear(this.body).append(
      el('section', null, el('h3', null, seqs.length === 1 ? 'Event' : 'Events'), seqs.length === 0 ? el('p.aside', null, 'Its text still grows: it is stored when it is whole.') : seqs.map((seq, n) => this.event(seq, seqs.length <= 4 || n === 0))), frames)
    this.body.scrollTop = top
    if (item.frames.length > 0 && Number.isInteger(item.frames[0][0])) this.frames(frames, item.frames.map((f) => f.slice()), this.abort.signal)
    else frames.append(el('p.aside', null, 'They are shown when the event is stored.'))
  }

  // events are those of the item, and the records of the same frames that it says already.
  events(item) {
    const { fold } = this.view
    const all = new Set(item.seqs)
    for (const seq of item.seqs) {
      for (const step of [-1, 1]) {
        for (let s = seq + step; fold.itemOf[s]?.hidden && Math.abs(s - seq) < 8; s += step) {
          if (fold.itemOf[s].frames.some((f) => item.frames.some((g) => f[0] <= g[1] && g[0] <= f[1])) || fold.itemOf[s].owner === item) all.add(s)
        }
      }
    }
    return [...all].sort((a, b) => a - b)
  }

  event(seq, open) {
    const source = this.view.model.texts[seq]
    const kind = trusted(source).get('kind')
    const name = oneLine(kind.get('kind').text ?? '') + (kind.get('source').text ? ' ' + oneLine(kind.get('source').text) : kind.get('tool').get('state').present ? ' ' + oneLine(kind.get('tool').get('state').get('phase').text ?? '') : '')
    const d = el('details.entry', { open, data: { event: seq } }, el('summary', null, el('span.number', null, '#' + seq), el('span.what', null, name), el('span.aside', null, size(source.length))))
    const fill = () => { if (d.open && d.childNodes.length === 1) d.append(code(pretty(source), source)) }
    d.addEventListener('toggle', fill)
    fill()
    return d
  }

  async frames(into, ranges, signal) {
    let shown = 0
    const total = ranges.reduce((n, [a, b]) => n + b - a + 1, 0)
    into.firstChild.append(el('span.aside', null, ' ' + count(total, 'frame')))
    const load = async () => {
      let left = framesAtOnce
      while (ranges.length > 0 && left > 0) {
        const [from, to] = ranges[0]
        const limit = Math.min(left, to - from + 1)
        const entries = [...elements(await ask(of(this.view.key) + '/frames?after=' + (from - 1) + '&limit=' + limit, signal), 'frames', {})]
        if (entries.length === 0) {
          into.append(el('p.aside', null, goneWords(from, to)))
          ranges.shift()
          continue
        }
        for (const source of entries) {
          const f = trusted(source)
          const seq = Number(f.get('seq').raw)
          if (seq > ranges[0][0]) into.append(el('p.aside', null, goneWords(ranges[0][0], Math.min(seq - 1, to))))
          ranges[0][0] = Math.min(seq, to + 1)
          if (seq > to) break
          into.append(this.frame(f, seq, total <= 6))
          ranges[0][0] = seq + 1
          left--
          shown++
        }
        if (ranges[0][0] > ranges[0][1]) ranges.shift()
      }
      if (ranges.length > 0) {
        const more = button('more', 'Show more of ' + count(total, 'frame'), async () => {
          more.remove()
          await attempt()
        })
        into.append(more)
      }
    }
    const attempt = async () => {
      try {
        await load()
      } catch (e) {
        if (e.name !== 'AbortError') into.append(el('p.notice', { data: { error: e.code ?? 'unknown' } }, 'The frames cannot be read: ' + e.message))
      }
    }
    await attempt()
    if (shown === 0 && total === 0) into.append(el('p.aside', null, 'None.'))
  }

  frame(f, seq, open) {
    const from = f.get('from').text ?? ''
    const kind = f.get('type').text ?? 'data'
    const at = Date.parse(f.get('at').text)
    let bytes = f.get('text').text
    let how = ''
    if (bytes === undefined && f.get('b64').present) {
      bytes = f.get('b64').text
      how = ' · not UTF-8, as base64'
    }
    bytes ??= ''
    const where = { __proto__: null, client: '→ agent', agent: '← agent', stderr: '← stderr', control: '■' }[from] ?? oneLine(from)
    const d = el('details.entry', { open, data: { frame: seq, from } }, el('summary', null, el('span.number', null, seq), el('span.from', { data: { from } }, where),
      el('span.what', null, kind === 'data' ? preview(bytes) : kind), el('time.aside', { title: f.get('at').text }, clock(at - this.view.first))))
    const extra = ['exchange', 'no', 'chan', 'end'].filter((n) => f.get(n).present).map((n) => n + ' ' + (f.get(n).text ?? f.get(n).raw)).join(' · ')
    const fill = () => {
      if (!d.open || d.childNodes.length > 1) return
      d.append(el('p.aside', null, [f.get('at').text, size(new TextEncoder().encode(bytes).length) + how, oneLine(extra)].filter(Boolean).join(' · ')))
      if (f.get('http').present) d.append(el('p.aside', null, 'http'), code(pretty(f.get('http').raw), f.get('http').raw))
      const exact = code(bytes, bytes, read(bytes).present ? () => pretty(bytes) : null)
      exact.querySelector('pre').dataset.bytes = ''
      d.append(exact)
    }
    d.addEventListener('toggle', fill)
    fill()
    return d
  }
}

function goneWords(from, to) {
  return (from === to ? 'Frame ' + from + ' is' : 'Frames ' + from + ' to ' + to + ' are') + ' not kept here any more.'
}

function preview(bytes) {
  const m = /"(?:method|sessionUpdate|stopReason)"\s*:\s*"([^"]{1,60})"/g
  const words = [...bytes.slice(0, 2000).matchAll(m)].map((x) => x[1])
  return words.length > 0 ? oneLine(words.join(' ')) : oneLine(bytes.slice(0, 60))
}

// code shows a text as it is, its beginning where it is long, and lets it be copied whole.
function code(shown, whole, spread = null) {
  const pre = el('pre.bytes', { tabindex: '0', role: 'group', 'aria-label': 'Bytes of the frame' })
  let cut = shown.length > shownAtOnce
  let current = shown
  const draw = () => {
    clear(pre)
    text(pre, cut ? current.slice(0, shownAtOnce) : current)
    all.hidden = !cut
  }
  const all = button('more', 'Show all ' + size(shown.length), () => {
    cut = false
    draw()
  })
  const copy = button('copy', 'Copy the exact text', () => copyText(whole, 'Copied.'), 'copy')
  let lines = null
  if (spread !== null) {
    lines = button('spread', 'Spread the JSON over lines', () => {
      const on = current === shown
      current = on ? spread() : shown
      lines.setAttribute('aria-pressed', String(on))
      draw()
    }, 'lines')
  }
  draw()
  return el('div.code', null, el('div.code-tools', null, lines, copy), pre, all)
}
