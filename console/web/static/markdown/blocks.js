// Markdown into blocks: quotes, lists, code, headings, rules, tables, paragraphs, as CommonMark and GitHub's tables and
// task lists have them. Raw HTML is text like any other.

import { destination, labelKey, title as readTitle } from './inline.js'

/**
 * @typedef {object} Block
 * @property {string} type document, quote, list, item, paragraph, heading, code, rule, table
 * @property {Block[]} children of documents, quotes, lists and items
 * @property {string} text of paragraphs, headings and code
 * @property {number} line at which it begins
 */

const deepest = 12 // quotes and lists inside one another; what is deeper is text

/**
 * blocks parses a text.
 * @param {string} source
 * @returns {{root: Block, refs: Map<string, {href: string, title: string}>, starts: number[]}} starts are where the
 *   blocks of the document begin in the text
 */
export function blocks(source) {
  const p = new Parser()
  const offsets = []
  let at = 0
  const lines = source.split('\n')
  if (lines.at(-1) === '') lines.pop() // the last one ended
  for (const line of lines) {
    offsets.push(at)
    at += line.length + 1
    p.line(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  while (p.tip !== null) p.close(p.tip)
  return { root: p.root, refs: p.refs, starts: p.root.children.map((b) => offsets[b.line]) }
}

class Parser {
  constructor() {
    this.root = this.make('document', null, 0)
    this.tip = this.root
    this.refs = new Map()
    this.number = -1
  }

  make(type, parent, line) {
    return { type, parent, children: [], lines: [], text: '', line, blankBehind: false, depth: parent === null ? 0 : parent.depth + 1, open: true }
  }

  // The line, and how far it was read.

  line(s) {
    this.number++
    this.s = s
    this.pos = 0
    this.column = 0
    this.tabRest = 0 // columns of a tab that were not taken yet
    let container = this.root
    let matched = true
    for (;;) {
      const child = container.children.at(-1)
      if (child === undefined || !child.open) break
      const how = this.continues(child)
      if (how === 'done') return
      if (!how) {
        matched = false
        break
      }
      container = child
    }
    const unmatched = matched ? null : container
    this.look()
    let leaf = container.type === 'code'
    while (!leaf) {
      this.look()
      if (this.blank) break
      const started = this.start(container, unmatched)
      if (started === null) break
      container = started.block
      leaf = started.leaf
      if (started.done) return
    }
    this.look()
    if (this.lazy(container)) {
      this.tip.lines.push(this.rest().trimStart())
      return
    }
    this.closeTo(container)
    this.add(container)
  }

  // lazy reports whether the line goes on with a paragraph whose containers it does not name.
  lazy(container) { return container !== this.tip && !this.blank && this.tip.type === 'paragraph' && !this.isBelow(container, this.tip) }

  isBelow(container, block) { return container.number === this.number || container === block }

  add(container) {
    if (this.blank) {
      const last = container.children.at(-1)
      if (last !== undefined) last.blankBehind = true
      const starts = container.type === 'item' && container.children.length === 0 && container.line === this.number
      const keeps = !(container.type === 'quote' || container.type === 'code' && container.fence || starts)
      for (let c = container; c !== null; c = c.parent) c.blankBehind = c === container ? keeps : false
      if (container.type === 'code') container.lines.push(this.rest())
      else if (container.type === 'paragraph') this.close(container)
      return
    }
    for (let c = container; c !== null; c = c.parent) c.blankBehind = false
    if (container.type === 'code') container.lines.push(this.rest())
    else if (container.type === 'paragraph') container.lines.push(this.rest().trimStart())
    else if (container.type !== 'heading' && container.type !== 'rule') {
      const p = this.begin('paragraph', container)
      p.lines.push(this.rest().trimStart())
    }
  }

  // look finds the next character that is no space.
  look() {
    let i = this.pos
    let column = this.column
    for (; i < this.s.length; i++) {
      if (this.s[i] === ' ') column++
      else if (this.s[i] === '\t') column += 4 - column % 4
      else break
    }
    this.next = i
    this.indent = column - this.column
    this.nextColumn = column
    this.blank = i >= this.s.length
  }

  toNext() {
    this.pos = this.next
    this.column = this.nextColumn
    this.tabRest = 0
  }

  skip(columns) {
    while (columns > 0 && this.pos < this.s.length) {
      if (this.s[this.pos] === '\t') {
        const wide = 4 - this.column % 4
        if (wide > columns) { // a part of the tab is left
          this.column += columns
          this.tabRest = wide - columns
          return
        }
        this.column += wide
        columns -= wide
      } else {
        this.column++
        columns--
      }
      this.pos++
      this.tabRest = 0
    }
  }

  rest() { return this.tabRest > 0 ? ' '.repeat(this.tabRest) + this.s.slice(this.pos + 1) : this.s.slice(this.pos) }

  // continues reports whether an open block goes on with this line.
  continues(b) {
    this.look()
    switch (b.type) {
      case 'list': return true
      case 'quote':
        if (this.indent > 3 || this.s[this.next] !== '>') return false
        this.toNext()
        this.pos++
        this.column++
        if (this.s[this.pos] === ' ' || this.s[this.pos] === '\t') this.skip(1)
        return true
      case 'item':
        if (this.blank) {
          if (b.children.length === 0) return false
          this.toNext()
          return true
        }
        if (this.indent < b.width) return false
        this.skip(b.width)
        return true
      case 'code': return b.fence ? this.inFence(b) : this.inIndent()
      case 'paragraph': return !this.blank
    }
    return false
  }

  inFence(b) {
    if (this.indent <= 3) {
      const m = /^(`{3,}|~{3,})[ \t]*$/.exec(this.s.slice(this.next))
      if (m !== null && m[1][0] === b.fence[0] && m[1].length >= b.fence.length) {
        this.closeTo(b)
        this.close(b)
        return 'done'
      }
    }
    this.skip(Math.min(this.indent, b.fenceIndent))
    return true
  }

  inIndent() {
    if (this.indent >= 4) this.skip(4)
    else if (this.blank) this.toNext()
    else return false
    return true
  }

  // start begins a block inside a container, or says that there is none.
  start(container, unmatched) {
    const s = this.s
    const rest = s.slice(this.next, this.next + 2000)
    const inParagraph = container.type === 'paragraph'
    if (this.indent >= 4) {
      if (this.tip.type === 'paragraph' || inParagraph) return null
      this.skip(4)
      this.closeTo(container)
      return { block: this.begin('code', container), leaf: true }
    }
    const c = rest[0]
    const deep = container.depth >= deepest
    if (c === '>' && !deep) {
      this.toNext()
      this.pos++
      this.column++
      if (s[this.pos] === ' ' || s[this.pos] === '\t') this.skip(1)
      this.closeTo(container)
      return { block: this.begin('quote', this.holder(container)) }
    }
    if (c === '#') {
      const m = /^(#{1,6})(?:[ \t]+|$)/.exec(rest)
      if (m !== null) {
        this.closeTo(container)
        const b = this.begin('heading', this.holder(container))
        b.level = m[1].length
        b.text = s.slice(this.next + m[0].length).replace(/(^|[ \t]+)#+[ \t]*$/, '').trim()
        this.close(b)
        return { block: b, leaf: true, done: true }
      }
    }
    if (c === '`' || c === '~') {
      const m = /^(`{3,})([^`]*)$|^(~{3,})(.*)$/.exec(s.slice(this.next))
      if (m !== null) {
        this.closeTo(container)
        const b = this.begin('code', this.holder(container))
        b.fence = m[1] ?? m[3]
        b.info = (m[2] ?? m[4]).trim()
        b.fenceIndent = this.indent
        return { block: b, leaf: true, done: true }
      }
    }
    if (inParagraph && (c === '=' || c === '-') && unmatched === null && container.lines.length > 0 && tableAt(container.lines) < 0) {
      const m = /^(=+|-+)[ \t]*$/.exec(s.slice(this.next))
      if (m !== null && this.define(container)) {
        container.type = 'heading'
        container.level = c === '=' ? 1 : 2
        container.text = container.lines.join('\n').trim()
        this.close(container)
        return { block: container, leaf: true, done: true }
      }
    }
    if ((c === '*' || c === '-' || c === '_') && /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(s.slice(this.next))) {
      this.closeTo(container)
      this.close(this.begin('rule', this.holder(container)))
      return { block: container, leaf: true, done: true }
    }
    return deep ? null : this.startItem(container, rest)
  }

  startItem(container, rest) {
    const m = /^(?:([*+-])|(\d{1,9})([.)]))(?=[ \t]|$)/.exec(rest)
    if (m === null) return null
    const empty = this.s.slice(this.next + m[0].length).trim() === ''
    if (container.type === 'paragraph' && (empty || m[2] !== undefined && Number(m[2]) !== 1)) return null
    const indent = this.indent
    this.toNext()
    this.pos += m[0].length
    this.column += m[0].length
    this.look()
    let padding = m[0].length + this.indent
    if (empty || this.indent < 1 || this.indent > 4) {
      padding = m[0].length + 1
      if (!empty) this.skip(1)
    } else this.skip(this.indent)
    const mark = m[1] ?? m[3]
    this.closeTo(container)
    let holder = this.holder(container)
    if (holder.type !== 'list' || holder.mark !== mark) {
      if (holder.type === 'list') {
        this.close(holder)
        holder = holder.parent
      }
      holder = this.begin('list', holder)
      holder.mark = mark
      holder.ordered = m[2] !== undefined
      holder.first = Number(m[2] ?? 1)
    }
    const item = this.begin('item', holder)
    item.width = indent + padding
    return { block: item }
  }

  // holder is what a new block is put into: a paragraph ends, and a list holds items only.
  holder(container) {
    if (container.type === 'paragraph') {
      const parent = container.parent
      if (container.open) this.close(container)
      return parent
    }
    return container
  }

  begin(type, parent) {
    if (parent.type === 'list' && type !== 'item') {
      this.close(parent)
      parent = parent.parent
    }
    const b = this.make(type, parent, this.number)
    b.number = this.number
    parent.children.push(b)
    this.tip = b
    return b
  }

  closeTo(container) {
    while (this.tip !== container && this.tip !== null && this.tip.depth > container.depth) this.close(this.tip)
  }

  close(b) {
    while (this.tip !== b && this.tip !== null && this.tip.depth > b.depth) this.close(this.tip)
    b.open = false
    if (this.tip === b) this.tip = b.parent
    switch (b.type) {
      case 'paragraph': this.closeParagraph(b); break
      case 'code': closeCode(b); break
      case 'list': b.tight = isTight(b); break
    }
  }

  closeParagraph(b) {
    if (!this.define(b)) {
      const siblings = b.parent.children
      siblings.splice(siblings.indexOf(b), 1)
      return
    }
    const table = tableOf(b)
    b.text = b.lines.join('\n').trimEnd()
    if (b.parent.type === 'item' && b.parent.children[0] === b) {
      const m = /^\[([ xX])\](?=\s)/.exec(b.text)
      if (m !== null) {
        b.parent.task = m[1] === ' ' ? 'open' : 'done'
        b.text = b.text.slice(m[0].length).trimStart()
      }
    }
    if (table !== null) {
      const siblings = b.parent.children
      if (b.lines.length === 0) siblings[siblings.indexOf(b)] = table
      else siblings.splice(siblings.indexOf(b) + 1, 0, table)
    }
  }

  // define takes the definitions of links at the beginning of a paragraph, and reports whether anything is left.
  define(b) {
    if (!b.lines[0]?.startsWith('[')) return b.lines.length > 0
    let text = b.lines.join('\n')
    for (;;) {
      const m = /^\[((?:[^\\[\]]|\\.){1,999})\]:[ \t]*\n?[ \t]*/.exec(text)
      if (m === null || m[1].trim() === '') break
      const d = destination(text, m[0].length)
      if (d === null || d.text === '' && text[m[0].length] !== '<') break
      let end = d.end
      let name = ''
      const t = /^[ \t]*(?:\n[ \t]*)?/.exec(text.slice(end))[0].length
      const quoted = t > 0 ? readTitle(text, end + t) : null
      const tail = quoted === null ? null : /^[ \t]*(?:\n|$)/.exec(text.slice(quoted.end))
      if (tail !== null) {
        name = quoted.text
        end = quoted.end + tail[0].length
      } else {
        const line = /^[ \t]*(?:\n|$)/.exec(text.slice(end))
        if (line === null) break
        end += line[0].length
      }
      const key = labelKey(m[1])
      if (!this.refs.has(key)) this.refs.set(key, { href: d.text, title: name })
      text = text.slice(end)
    }
    const had = b.lines.length
    b.lines = text === '' ? [] : text.split('\n')
    b.line += had - b.lines.length
    return b.lines.length > 0
  }
}

function closeCode(b) {
  const lines = b.lines
  if (!b.fence) while (lines.length > 0 && lines.at(-1).trim() === '') lines.pop()
  b.text = lines.join('\n')
  b.count = lines.length
  b.lines = []
}

// isTight reports whether no blank line stands between a list's items, nor between the blocks of one.
function isTight(list) {
  return list.children.every((item, i) => {
    const last = i === list.children.length - 1
    if (!last && endsBlank(item)) return false
    return item.children.every((b, n) => n === item.children.length - 1 || !endsBlank(b))
  })
}

function endsBlank(b) {
  for (;;) {
    if (b.blankBehind) return true
    if (b.type !== 'list' && b.type !== 'item' || b.children.length === 0) return false
    b = b.children.at(-1)
  }
}

// tableAt is the line of a paragraph under a table's header, which says that it is one; -1 where there is none.
function tableAt(lines) {
  for (let i = 1; i < lines.length; i++) {
    if (!/^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/.test(lines[i]) || !/[|:-]/.test(lines[i])) continue
    const fits = cells(lines[i - 1]).length === cells(lines[i]).length
    return fits && (lines[i].includes('|') || lines[i - 1].includes('|')) ? i : -1
  }
  return -1
}

// tableOf takes a table off the end of a paragraph; null where there is none.
function tableOf(b) {
  const i = tableAt(b.lines)
  if (i < 0) return null
  const aligns = cells(b.lines[i]).map((c) => (c.startsWith(':') ? c.endsWith(':') ? 'center' : 'left' : c.endsWith(':') ? 'right' : ''))
  const header = cells(b.lines[i - 1])
  const rows = b.lines.slice(i + 1).map((l) => cells(l).slice(0, aligns.length))
  b.lines = b.lines.slice(0, i - 1)
  return { type: 'table', aligns, header, rows, children: [], line: b.line + i - 1, depth: b.depth, open: false, blankBehind: b.blankBehind }
}

function cells(line) {
  let s = line.trim()
  if (s.startsWith('|')) s = s.slice(1)
  if (s.endsWith('|') && !s.endsWith('\\|')) s = s.slice(0, -1)
  const out = []
  let cell = ''
  for (let i = 0; i < s.length; i++) {
    if (s[i] === '\\' && s[i + 1] === '|') {
      cell += '|'
      i++
    } else if (s[i] === '\\' && i + 1 < s.length) cell += s[i] + s[++i]
    else if (s[i] === '|') {
      out.push(cell.trim())
      cell = ''
    } else cell += s[i]
  }
  out.push(cell.trim())
  return out
}
