// A text that grows: blocks that are finished stay as they are, only the last one is made anew, of a list or a table its
// last entry, and code that is being written is appended to.

import { el, text } from '../dom.js'
import { block, goesOn } from './render.js'
import { blocks } from './blocks.js'

const slow = 3000 // characters of an open block from which on it is not made anew each time
const share = 10 // how often what it took passes until it is made again, then
const most = 50_000 // characters of an open block that are read as Markdown while it grows

export class Growing {
  /** @param {HTMLElement} into @param {boolean} [grows] more is to come: of a block without end only the beginning is read, the rest is plain text */
  constructor(into, grows = false) {
    this.into = into
    this.grows = grows
    this.plain = null // what holds that rest
    this.shown = '' // the text that is there
    this.want = null // the text that is to be there, where it comes over several frames
    this.from = 0 // where the open block begins in it
    this.open = [] // the open block's elements
    this.was = null // {block, refs} that the first of them was made of
    this.fence = null // {node, text} of code that is being written
    this.timer = 0
    this.due = -Infinity // when a long block may be made again; a page may be younger than a pause
  }

  /** isBehind reports whether a part of the text is still to be made. */
  get isBehind() { return this.timer > 0 }

  /** set shows a text: the one before and more, or another one. */
  set(s) {
    if (s === this.shown) return
    if (!s.startsWith(this.shown)) {
      this.into.replaceChildren()
      this.from = 0
      this.open = []
      this.was = null
      this.fence = null
      this.plain = null
      this.due = -Infinity
    } else if (this.plain !== null) {
      text(this.plain, s.slice(this.shown.length))
      this.shown = s
      return
    } else if (this.fence !== null && !this.isBehind && this.append(s.slice(this.shown.length))) {
      this.shown = s
      return
    }
    const now = performance.now()
    const isLong = this.shown.length - this.from > slow
    this.shown = s
    if (isLong && now < this.due) return this.later(this.due - now)
    this.make(now)
  }

  // append puts a piece of code behind the code; false where it may be the code's end.
  append(piece) {
    if (/[`~\r\0]/.test(piece) || this.fence.text.lastIndexOf('\n') >= 0 && /(^|\n)[ \t]*[`~]*$/.test(this.fence.text) && /[`~]/.test(this.fence.text.slice(this.fence.text.lastIndexOf('\n')))) return false
    text(this.fence.node, piece)
    this.fence.text += piece
    return true
  }

  /** finish makes at once what is still to be made, and shows what is still to be shown. */
  finish() {
    if (this.want?.startsWith(this.shown)) this.set(this.want)
    if (this.isBehind) this.make(performance.now())
  }

  later(ms) {
    if (this.timer) return
    this.timer = setTimeout(() => {
      this.timer = 0
      if (this.into.isConnected) this.make(performance.now())
    }, ms)
  }

  make(now) {
    clearTimeout(this.timer)
    this.timer = 0
    this.plain?.remove()
    this.plain = null
    let from = -1
    while (this.grows && this.shown.length - this.from > most && from !== this.from) {
      from = this.from
      this.read(this.shown.slice(from, from + most))
    }
    if (from === this.from) {
      this.plain = el('p.plain', { title: 'Markdown is read when this is whole.' })
      text(this.plain, this.shown.slice(from + most))
      this.into.append(this.plain)
    } else this.read(this.shown.slice(this.from))
    const done = performance.now()
    this.due = done + (done - now) * share
  }

  // read makes the blocks of what is behind the finished ones.
  read(rest) {
    const { root, refs, starts } = blocks(rest)
    const first = root.children[0]
    const kept = this.was !== null && first !== undefined && goesOn(this.open[0], this.was, { block: first, refs }) ? this.open[0] : null
    for (const e of this.open) if (e !== kept) e.remove()
    this.open = []
    this.was = null
    this.fence = null
    const last = root.children.length - 1
    // A block that begins on a line which is not at its end may yet belong to the one before.
    const stays = last > 0 && starts[last] > rest.lastIndexOf('\n') ? last - 1 : last
    root.children.forEach((b, i) => {
      const e = i === 0 && kept !== null ? kept : block(b, refs)
      if (e !== kept) this.into.append(e)
      if (i >= stays) this.open.push(e)
      if (i === stays) this.was = { block: b, refs }
      if (i < last) return
      if (b.type === 'code' && b.fence && b.open === false && !closed(rest.slice(starts[i]), b.fence)) {
        const code = e.querySelector('code')
        // the line feed behind the last line belongs to the text that comes
        if (rest.endsWith('\n') && b.count > 0) code.append('\n')
        this.fence = { node: code, text: rest.slice(starts[i]) }
        if (!rest.slice(starts[i]).includes('\n') || b.fenceIndent > 0) this.fence = null
      }
    })
    if (last >= 0) this.from += starts[stays]
  }
}

function closed(source, fence) {
  const lines = source.trimEnd().split('\n')
  const end = lines.at(-1).trim()
  return lines.length > 1 && end.length >= fence.length && end === fence[0].repeat(end.length)
}
