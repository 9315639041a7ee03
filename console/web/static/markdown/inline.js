// Markdown inside a block: code, emphasis, links, images, line breaks. Images and raw HTML are named and shown, not
// loaded and obeyed; that is up to render.js, which makes the nodes.

/**
 * @typedef {object} Inline
 * @property {string} type text, code, em, strong, del, link, image, break, soft
 * @property {string} text
 * @property {Inline[]} children
 * @property {string} href
 * @property {string} title
 */

const deepest = 24 // emphasis inside emphasis

/** inline parses a block's text. @param {Map} refs definitions of links @returns {Inline[]} */
export function inline(s, refs = new Map()) {
  return new Scanner(s, refs).run()
}

const plainRun = /[^\\`*_~[\]!<&\n]+/y
const escapable = /[!-/:-@[-`{-~]/
const space = /\s|^$/u
const mark = /[\p{P}\p{S}]/u

class Scanner {
  constructor(s, refs) {
    this.s = s
    this.refs = refs
    this.pos = 0
    this.head = { type: 'head', next: null, prev: null }
    this.tail = this.head
    this.delimiters = null // the last one
    this.brackets = []
    this.ticks = null
    this.links = bare(s)
    this.link = 0
  }

  run() {
    const s = this.s
    while (this.pos < s.length) {
      while (this.link < this.links.length && this.links[this.link].start < this.pos) this.link++
      const link = this.links[this.link]
      if (link?.start === this.pos) {
        this.push({ type: 'link', href: link.href, title: '', children: [{ type: 'text', text: s.slice(link.start, link.end) }], bare: true })
        this.pos = link.end
        continue
      }
      this.step(link?.start ?? s.length)
    }
    this.emphasise(null)
    return list(this.head.next, 0)
  }

  step(limit) {
    const s = this.s
    plainRun.lastIndex = this.pos
    const run = plainRun.exec(s)
    if (run !== null) {
      const end = Math.min(limit, this.pos + run[0].length)
      this.text(s.slice(this.pos, end))
      this.pos = end
      return
    }
    switch (s[this.pos]) {
      case '\\': return this.backslash()
      case '`': return this.code()
      case '*': case '_': case '~': return this.delimiter()
      case '[':
        this.bracket(false)
        return
      case '!':
        if (s[this.pos + 1] === '[') this.bracket(true)
        else this.take(1)
        return
      case ']': return this.close()
      case '<': return this.angle()
      case '&': return this.entity()
      case '\n': return this.newline()
    }
    this.take(1)
  }

  push(node) {
    node.prev = this.tail
    node.next = null
    this.tail.next = node
    this.tail = node
    return node
  }

  text(t) {
    if (this.tail.type === 'text') this.tail.text += t
    else this.push({ type: 'text', text: t })
  }

  take(n) {
    this.text(this.s.slice(this.pos, this.pos + n))
    this.pos += n
  }

  backslash() {
    const c = this.s[this.pos + 1]
    if (c === '\n') {
      this.push({ type: 'break' })
      this.pos += 2
      this.indent()
    } else if (c !== undefined && escapable.test(c)) {
      this.text(c)
      this.pos += 2
    } else this.take(1)
  }

  newline() {
    const tail = this.tail
    let hard = false
    if (tail.type === 'text') {
      hard = tail.text.endsWith('  ')
      tail.text = tail.text.replace(/ +$/, '')
    }
    this.push({ type: hard ? 'break' : 'soft' })
    this.pos++
    this.indent()
  }

  indent() {
    while (this.s[this.pos] === ' ' || this.s[this.pos] === '\t') this.pos++
  }

  code() {
    const s = this.s
    let n = this.pos
    while (s[n] === '`') n++
    const run = n - this.pos
    const end = this.closingTicks(n, run)
    if (end < 0) return this.take(run)
    let inner = s.slice(n, end).replaceAll('\n', ' ')
    if (inner.length > 2 && inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '') inner = inner.slice(1, -1)
    this.push({ type: 'code', text: inner })
    this.pos = end + run
  }

  // closingTicks finds the next run of exactly so many backticks; all runs are found once.
  closingTicks(from, run) {
    if (this.ticks === null) {
      this.ticks = new Map()
      for (const m of this.s.matchAll(/`+/g)) {
        const of = this.ticks.get(m[0].length)
        if (of === undefined) this.ticks.set(m[0].length, { at: [m.index], next: 0 })
        else of.at.push(m.index)
      }
    }
    const of = this.ticks.get(run)
    if (of === undefined) return -1
    while (of.next < of.at.length && of.at[of.next] < from) of.next++
    return of.next < of.at.length ? of.at[of.next] : -1
  }

  delimiter() {
    const s = this.s
    const c = s[this.pos]
    let n = this.pos
    while (s[n] === c) n++
    const count = n - this.pos
    if (c === '~' && count > 2) return this.take(count)
    const before = charBefore(s, this.pos)
    const after = n < s.length ? String.fromCodePoint(s.codePointAt(n)) : ''
    const left = !space.test(after) && (!mark.test(after) || space.test(before) || mark.test(before))
    const right = !space.test(before) && (!mark.test(before) || space.test(after) || mark.test(after))
    const node = this.push({ type: 'text', text: s.slice(this.pos, n) })
    const d = {
      node, c, count, original: count, before: this.delimiters, after: null,
      opens: c === '_' ? left && (!right || mark.test(before)) : left,
      closes: c === '_' ? right && (!left || mark.test(after)) : right,
    }
    node.delimiter = d
    if (this.delimiters !== null) this.delimiters.after = d
    this.delimiters = d
    this.pos = n
    this.push({ type: 'text', text: '' }) // so that nothing is put behind the delimiter's own text
  }

  // emphasise pairs delimiters behind a bottom.
  emphasise(bottom) {
    const bottoms = new Map()
    let closer = this.delimiters
    while (closer !== null && closer.before !== bottom) closer = closer.before
    while (closer !== null) {
      if (!closer.closes) {
        closer = closer.after
        continue
      }
      const key = closer.c + closer.original % 3 + closer.opens + (closer.c === '~' ? closer.original : '')
      const floor = bottoms.has(key) ? bottoms.get(key) : bottom
      let opener = closer.before
      while (opener !== null && opener !== bottom && opener !== floor && !pairs(opener, closer)) opener = opener.before
      const found = opener !== null && opener !== bottom && opener !== floor
      const next = closer.after
      if (!found) {
        bottoms.set(key, closer.before)
        if (!closer.opens) this.drop(closer)
        closer = next
        continue
      }
      const n = closer.c === '~' ? closer.count : Math.min(opener.count, closer.count) >= 2 ? 2 : 1
      this.wrap(opener, closer, n)
      for (let d = closer.before; d !== opener; d = d.before) this.drop(d)
      opener.count -= n
      closer.count -= n
      opener.node.text = opener.node.text.slice(n)
      closer.node.text = closer.node.text.slice(n)
      if (opener.count === 0) this.drop(opener)
      if (closer.count === 0) {
        this.drop(closer)
        closer = next
      }
    }
    while (this.delimiters !== null && this.delimiters !== bottom) this.drop(this.delimiters)
  }

  // wrap puts what is between two delimiters into a node of its own.
  wrap(opener, closer, n) {
    const first = opener.node.next
    const last = closer.node.prev
    const node = { type: closer.c === '~' ? 'del' : n === 2 ? 'strong' : 'em', first: null, prev: opener.node, next: closer.node }
    if (first !== closer.node) {
      node.first = first
      first.prev = null
      last.next = null
    }
    opener.node.next = node
    closer.node.prev = node
  }

  drop(d) {
    if (d.before !== null) d.before.after = d.after
    if (d.after !== null) d.after.before = d.before
    else this.delimiters = d.before
  }

  bracket(image) {
    const node = this.push({ type: 'text', text: image ? '![' : '[' })
    this.pos += node.text.length
    this.brackets.push({ node, image, active: true, start: this.pos, delimiters: this.delimiters })
    this.push({ type: 'text', text: '' })
  }

  close() {
    const start = this.pos
    this.pos++
    const opener = this.brackets.pop()
    if (opener === undefined) return this.text(']')
    const target = opener.active ? this.target(opener, start) : null
    if (target === null) return this.text(']')
    this.emphasise(opener.delimiters)
    const node = { type: opener.image ? 'image' : 'link', href: target.href, title: target.title, first: opener.node.next, prev: opener.node.prev, next: null }
    if (node.first !== null) node.first.prev = null
    node.prev.next = node
    this.tail = node
    if (opener.image) node.alt = plainOf(node.first)
    else for (const b of this.brackets) if (!b.image) b.active = false // no link inside a link
  }

  // target is what a bracket leads to; null if to nothing.
  target(opener, end) {
    const s = this.s
    const at = this.pos
    if (s[at] === '(') {
      let i = gap(s, at + 1)
      const d = destination(s, i)
      if (d !== null) {
        i = gap(s, d.end)
        const t = i > d.end ? title(s, i) : null
        if (t !== null) i = gap(s, t.end)
        if (s[i] === ')') {
          this.pos = i + 1
          return { href: d.text, title: t?.text ?? '' }
        }
      }
    }
    let label = s.slice(opener.start, end)
    let next = at
    const m = s[at] === '[' ? /^\[((?:[^\\[\]]|\\.){0,999})\]/.exec(s.slice(at, at + 1010)) : null
    if (m !== null) {
      next = at + m[0].length
      if (m[1].trim() !== '') label = m[1]
    }
    const ref = this.refs.size > 0 && label.length < 1000 ? this.refs.get(labelKey(label)) : undefined
    if (ref === undefined) return null
    this.pos = next
    return ref
  }

  angle() {
    const rest = this.s.slice(this.pos, this.pos + 2000)
    const m = /^<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>/.exec(rest)
    const mail = m === null ? /^<([\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*)>/.exec(rest) : null
    const found = m ?? mail
    if (found === null) return this.take(1)
    this.push({ type: 'link', href: (mail === null ? '' : 'mailto:') + found[1], title: '', children: [{ type: 'text', text: found[1] }], bare: true })
    this.pos += found[0].length
  }

  entity() {
    const m = entityAt(this.s, this.pos)
    if (m === null) return this.take(1)
    this.text(m.text)
    this.pos += m.length
  }
}

function pairs(opener, closer) {
  if (opener.c !== closer.c || !opener.opens) return false
  if (closer.c === '~') return opener.count === closer.count
  return !((opener.closes || closer.opens) && closer.original % 3 !== 0 && (opener.original + closer.original) % 3 === 0)
}

// list makes an array of linked nodes, and joins texts that are neighbours.
function list(node, depth) {
  const out = []
  for (; node !== null && node !== undefined; node = node.next) {
    if (node.type === 'text') {
      if (node.text === '') continue
      if (out.at(-1)?.type === 'text') out.at(-1).text += node.text
      else out.push({ type: 'text', text: node.text })
      continue
    }
    if (node.first !== undefined) {
      const children = list(node.first, depth + 1)
      if (depth >= deepest) {
        out.push(...children)
        continue
      }
      out.push({ type: node.type, href: node.href, title: node.title, alt: node.alt, children: node.type === 'link' ? unlinked(children) : children })
    } else out.push(node)
  }
  return out
}

// unlinked is what a link holds: no other link.
function unlinked(children) {
  return children.flatMap((c) => (c.type === 'link' ? unlinked(c.children) : c.children ? [{ ...c, children: unlinked(c.children) }] : [c]))
}

function plainOf(node) {
  let s = ''
  for (; node !== null && node !== undefined; node = node.next) {
    if (node.type === 'soft' || node.type === 'break') s += ' '
    else if (node.alt !== undefined) s += node.alt
    else if (node.first !== undefined) s += plainOf(node.first)
    else if (node.children !== undefined) for (const c of node.children) s += c.text ?? ''
    else s += node.text ?? ''
  }
  return s
}

function charBefore(s, i) {
  if (i === 0) return ''
  const low = s.charCodeAt(i - 1)
  if (low >= 0xdc00 && low <= 0xdfff && i > 1) return s.slice(i - 2, i)
  return s[i - 1]
}

function gap(s, i) {
  let lines = 0
  for (; i < s.length; i++) {
    if (s[i] === '\n') {
      if (++lines > 1) return i
    } else if (s[i] !== ' ' && s[i] !== '\t') break
  }
  return i
}

/** destination reads where a link leads; null if there is nothing to read. */
export function destination(s, i) {
  if (s[i] === '<') {
    for (let n = i + 1; n < s.length; n++) {
      if (s[n] === '\\') n++
      else if (s[n] === '\n' || s[n] === '<') return null
      else if (s[n] === '>') return { text: unescaped(s.slice(i + 1, n)), end: n + 1 }
    }
    return null
  }
  let depth = 0
  let n = i
  for (; n < s.length; n++) {
    const c = s.charCodeAt(n)
    if (c === 92 && n + 1 < s.length && escapable.test(s[n + 1])) n++
    else if (c === 40 && ++depth > 32) return null
    else if (c === 41 && --depth < 0) break
    else if (c <= 32 || c === 127) break
  }
  if (depth > 0) return null
  return { text: unescaped(s.slice(i, n)), end: n }
}

/** title reads a link's title; null if there is none. */
export function title(s, i) {
  const close = { '"': '"', "'": "'", '(': ')' }[s[i]]
  if (close === undefined) return null
  for (let n = i + 1; n < s.length; n++) {
    if (s[n] === '\\') n++
    else if (s[n] === close) return /\n[ \t]*\n/.test(s.slice(i, n)) ? null : { text: unescaped(s.slice(i + 1, n)), end: n + 1 }
    else if (s[n] === '(' && close === ')') return null
  }
  return null
}

/** labelKey is what tells labels apart. */
export function labelKey(label) { return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase() }

function unescaped(s) {
  if (!/[\\&]/.test(s)) return s
  let out = ''
  for (let i = 0; i < s.length; i++) {
    if (s[i] === '\\' && i + 1 < s.length && escapable.test(s[i + 1])) out += s[++i]
    else if (s[i] === '&') {
      const m = entityAt(s, i)
      out += m === null ? '&' : m.text
      i += m === null ? 0 : m.length - 1
    } else out += s[i]
  }
  return out
}

const names = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–',
  lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', bull: '•', middot: '·', times: '×', divide: '÷', plusmn: '±',
  larr: '←', rarr: '→', uarr: '↑', darr: '↓', harr: '↔', deg: '°', sect: '§', para: '¶', euro: '€', pound: '£', yen: '¥', cent: '¢',
  frac12: '½', frac14: '¼', frac34: '¾', le: '≤', ge: '≥', ne: '≠', infin: '∞', micro: 'µ', check: '✓', hearts: '♥', star: '☆',
  auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç',
}

function entityAt(s, i) {
  const m = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,30}));/.exec(s.slice(i, i + 40))
  if (m === null) return null
  if (m[3] !== undefined) return Object.hasOwn(names, m[3]) ? { text: names[m[3]], length: m[0].length } : null
  const code = m[1] !== undefined ? Number(m[1]) : parseInt(m[2], 16)
  const bad = code === 0 || code > 0x10ffff || code >= 0xd800 && code <= 0xdfff
  return { text: bad ? '\ufffd' : String.fromCodePoint(code), length: m[0].length }
}

const address = /(?:https?:\/\/|www\.)[^\s<]+|[\w.+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+/gi

// bare finds addresses that are links without any mark.
function bare(s) {
  if (!/:\/\/|www\.|@/i.test(s)) return []
  const out = []
  for (const m of s.matchAll(address)) {
    const before = m.index === 0 ? '' : s[m.index - 1]
    if (before !== '' && !/[\s*_~(]/.test(before)) continue
    let t = m[0]
    const isMail = !/^(?:https?:\/\/|www\.)/i.test(t)
    if (isMail) {
      if (/[-_]$/.test(t)) continue
      out.push({ start: m.index, end: m.index + t.length, href: 'mailto:' + t })
      continue
    }
    t = trimmed(t)
    const host = t.replace(/^https?:\/\//i, '').split(/[/?#:]/)[0]
    if (!/^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$/u.test(host) || /^www\./i.test(t) && !host.includes('.', 4)) continue
    if (!/^https?:/i.test(t) || host.includes('.') || /^localhost$/i.test(host)) out.push({ start: m.index, end: m.index + t.length, href: (/^www/i.test(t) ? 'http://' : '') + t })
  }
  return out
}

// trimmed leaves out what ends a sentence rather than an address.
function trimmed(t) {
  let open = 0 // brackets that were opened, less those that were closed
  for (let i = 0; i < t.length; i++) open += t[i] === '(' ? 1 : t[i] === ')' ? -1 : 0
  let end = t.length
  for (; end > 0; end--) {
    const c = t[end - 1]
    if (c === ')' && open < 0) open++
    else if (c === ';') {
      const amp = t.lastIndexOf('&', end - 2)
      if (amp < 0 || end - amp > 32 || !/^[a-zA-Z0-9]+$/.test(t.slice(amp + 1, end - 1))) break
      end = amp + 1
    } else if (!'?!.,:*_~\'"'.includes(c)) break
  }
  return t.slice(0, end)
}
