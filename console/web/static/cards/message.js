// Messages: what users and agents say, and what agents think. A thought is folded, with how long it was.

import { el, setData } from '../dom.js'
import { Growing } from '../markdown/growing.js'
import { attachmentWords } from '../readable.js'
import { oneLine } from '../visible.js'
import { count, size, span } from '../when.js'
import { excerpt, flagsOf, folding } from './parts.js'

const long = 60_000 // characters of a message that are shown without being asked for
const step = 10_000 // characters of it that are made in one frame
const written = new WeakMap() // what grows in an element

/** textOf is a message's text as it stands at the moment that is shown. */
export function textOf(view, item) {
  const s = item.open ? item.text : storedText(view, item)
  const n = view.typedUntil(item, s.length)
  return n < s.length ? s.slice(0, n) : s
}

function storedText(view, item) {
  const stored = view.stored(item)
  return stored.text ??= stored.kind.get('text').text ?? ''
}

/**
 * message makes the content of a message; grow(text) shows more of it. What was typed before stays as it is.
 * @param {{body: HTMLElement, grown: Growing}} [before] what was made of the same item
 * @returns {{nodes: Node[], grow: (s: string) => void, body: HTMLElement, grown: Growing}}
 */
export function message(view, item, before) {
  const s = textOf(view, item)
  const goesOn = before !== undefined && before.grown.shown !== '' && before.grown.plain === null && s.startsWith(before.grown.shown) && !defines.test(s)
  const body = goesOn ? before.body : el('div.md', { dir: 'auto', data: { text: true } })
  setData(body, { caret: item.open || view.isTyping(item) })
  const grown = goesOn ? before.grown : new Growing(body, item.open)
  grown.grows = item.open
  const nodes = [body]
  let whole = item.open || s.length <= long || goesOn && s.length === grown.shown.length || item.folds?.get('whole') === true
  const grow = (t) => {
    const all = whole ? t : cut(t, long)
    if (item.open) grown.set(all)
    else write(grown, all, item.height - 60)
  }
  if (!whole) {
    nodes.push(more(item, 'whole', s, () => {
      whole = true
      grow(textOf(view, item))
    }))
  }
  const parts = item.open || view.isTyping(item) ? null : partsOf(view, item)
  if (parts !== null) return { nodes: [el('div', { data: { text: true } }, parts)], grow: () => {}, body, grown }
  grow(s)
  return { nodes, grow, body, grown }
}

const defines = /^ {0,3}\[[^\]\n]+\]:/m // where a link leads, which may be said behind it

// more makes the button that shows all of a text; that it was pressed outlives the row.
function more(item, name, s, press) {
  return el('button.more', { type: 'button', data: { action: 'more' }, on: { click: (e) => {
    item.folds ??= new Map()
    item.folds.set(name, true)
    e.currentTarget.remove()
    press()
  } } }, 'Show all ' + size(s.length) + ' of it')
}

// write shows a text, one that is long over several frames. Meanwhile it takes the room that it took when it was measured.
function write(grown, all, room = 0) {
  const body = grown.into
  grown.want = all
  written.set(body, grown)
  if (all.length - grown.shown.length <= step * 1.5) {
    body.style.minHeight = ''
    grown.set(all)
    return
  }
  if (room > 0) body.style.minHeight = room + 'px'
  const next = () => {
    if (grown.want !== all) return // another text is to be shown by now
    if (!grown.isBehind) grown.set(cut(all, grown.shown.length + step))
    if (grown.shown.length >= all.length) body.style.minHeight = ''
    else requestAnimationFrame(() => { if (body.isConnected) next() })
  }
  next()
}

// prose makes a part of a message that is text, its beginning where it is long.
function prose(item, name, s) {
  const body = el('div.md', { dir: 'auto' })
  const grown = new Growing(body)
  const isWhole = s.length <= long || item.folds?.get(name) === true
  write(grown, isWhole ? s : cut(s, long))
  return isWhole ? body : [body, more(item, name, s, () => write(grown, s))]
}

/** finish shows at once, in a part of the page, all of its texts: paper does not wait, and has no button that shows more. */
export function finish(part) {
  for (const more of part.querySelectorAll('button.more')) more.click()
  for (const body of part.querySelectorAll('.md')) written.get(body)?.finish()
}

// cut ends at a line, so that no block is cut where it is not sent.
function cut(s, length) {
  if (s.length <= length) return s
  const at = s.lastIndexOf('\n', length)
  return s.slice(0, at > length - step / 2 ? at : length)
}

// partsOf shows a message whose parts are not all text, in the order in which they were sent; null where they are.
function partsOf(view, item) {
  const content = view.stored(item).kind.get('content').list()
  const isText = (p) => p.get('type').is('text') && p.get('text').text !== undefined
  if (content.every(isText)) return null
  return content.map((p) => {
    if (isText(p)) return prose(item, 'part.' + p.start, p.get('text').text.trim())
    const head = attachmentWords(p).join(' · ')
    const inner = p.get('resource').get('text').text
    return inner === undefined ? el('p.attachment', null, head)
      : folding(item, 'attachment.' + p.start, [head], () => excerpt(item, 'attached.' + p.start, inner))
  })
}

/** thought makes the content of a thought. */
export function thought(view, item) {
  const s = textOf(view, item)
  const made = { grow: null }
  const first = el('span.first-line')
  const took = el('span.took')
  const say = (t) => {
    const line = t.trimStart().split('\n', 1)[0].replace(/[*_`#]+/g, '')
    const words = oneLine(line.slice(0, 200))
    if (first.textContent !== words) first.textContent = words
    const ms = view.tookMs(item)
    const how = (item.open || view.isTyping(item) ? 'thinking' : 'thought') + (ms === null || ms < 1 ? '' : view.isExact(item) ? ' for ' + span(ms) : ' for about ' + span(ms))
    if (took.textContent !== how) took.textContent = how
  }
  say(s)
  const words = s.length > 400 ? el('span.aside', null, count(s.split(/\s+/).length, 'word')) : null
  const details = folding(item, 'thought', [took, first, words, ...flagsOf(item)], () => {
    const m = message(view, item)
    made.grow = m.grow
    return m.nodes
  }, item.open || view.isTyping(item))
  return {
    nodes: [details],
    grow: (t) => {
      say(t)
      made.grow?.(t)
    },
  }
}
