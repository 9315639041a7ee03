// What all cards are made of: texts that are long and folded, values by name, flags, changes of files.

import { el, text } from '../dom.js'
import { diff } from '../diff.js'
import { flags } from '../flags.js'
import { compact, pretty } from '../json.js'
import { patchOf } from '../patch.js'
import { membersOf, partsOfValue } from '../readable.js'
import { oneLine } from '../visible.js'
import { count, size } from '../when.js'

const lines = 10 // of a long text that are shown at once
const characters = 1600 // and characters of it
const huge = 400_000 // characters of a text that are put into the page on request

/**
 * folding makes a part of an item that can be folded; whether it is open outlives the row.
 * @param {Item} item @param {string} name of the part @param {() => Node[]} make what is inside, when it is first opened
 */
export function folding(item, name, summary, make, open = false) {
  item.folds ??= new Map()
  const d = el('details', { data: { fold: name } }, el('summary', null, ...summary))
  let made = false
  const fill = () => {
    if (!made && d.open) {
      made = true
      d.append(...make())
    }
  }
  d.open = item.folds.get(name) ?? open
  fill()
  d.addEventListener('toggle', fill)
  d.firstChild.addEventListener('click', () => item.folds.set(name, !d.open))
  return d
}

/** excerpt shows the beginning of a text, and the rest when it is asked for. */
export function excerpt(item, name, s, className = '') {
  s = s.replaceAll('\r\n', '\n').replace(/\n+$/, '')
  const cut = cutAt(s)
  const head = el('pre.text', { class: className || undefined })
  if (className !== '') head.className = 'text ' + className
  text(head, s.slice(0, cut))
  if (cut >= s.length) return [head]
  const rest = s[cut] === '\n' ? s.slice(cut + 1) : s.slice(cut)
  const more = rest.split('\n').length
  const words = more > 1 ? count(more, 'more line') : size(rest.length) + ' more'
  return [head, folding(item, name, ['… ' + words], () => {
    const p = el('pre.text')
    if (className !== '') p.className = 'text ' + className
    text(p, rest.slice(0, huge))
    return rest.length <= huge ? [p] : [p, el('p.aside', null, size(rest.length - huge) + ' more are in the event itself: open the inspector.')]
  })]
}

function cutAt(s) {
  let at = -1
  for (let n = 0; n < lines; n++) {
    at = s.indexOf('\n', at + 1)
    if (at < 0) break
  }
  if (at < 0) at = s.length
  else if (s.indexOf('\n', at + 1) < 0 && s.length - at < 200) at = s.length // one more line is less than the words for it
  return at > characters ? characters : at
}

/** values shows what a tool was given or gave. @param {import('../json.js').Value} v */
export function values(item, name, v, className = '') {
  const out = []
  let list = null
  let n = 0
  for (const p of partsOfValue(v)) {
    const key = name + '.' + n++
    if (p.diff !== undefined) {
      list = null
      continue // it stands on the card by itself
    }
    if (p.words !== undefined) {
      list = null
      out.push(el('p.attachment', null, p.words.join(' · ')))
      continue
    }
    const body = p.text ?? compact(p.json)
    if (p.name === undefined) {
      list = null
      out.push(...excerpt(item, key, p.json === undefined ? body : spread(p.json), className))
      continue
    }
    if (list === null) out.push(list = el('dl.values'))
    const short = !body.trimEnd().includes('\n') && body.length <= 160
    list.append(el('dt', null, oneLine(p.name)), el('dd', { class: short ? 'short' : undefined }, ...(short ? [el('code', { class: className || undefined }, body.trimEnd())] : excerpt(item, key, p.json === undefined ? body : spread(p.json), className))))
  }
  return out
}

function spread(json) {
  return json.length < 100 ? compact(json) : pretty(json)
}

/** line is a value in a few words, for the head of a card. */
export function line(v) { return oneLine(membersOf(v)).slice(0, 300) }

/** flagsOf names what is odd about an item. */
export function flagsOf(item) {
  return item.flags.map((f) => el('span.flag', { data: { flag: f }, title: flags[f] ?? 'A flag that this page does not know.' }, f.replaceAll('_', ' ')))
}

/** changes show what a tool does to files. @param {import('../json.js').Value} d of type diff */
export function changes(item, name, d) {
  if (d.get('changes').kind === 'array') return changesOf(item, name, d)
  const path = d.get('path').text ?? ''
  const old = d.get('oldText').text ?? null
  return [change(item, name, path, old === null ? 'new file' : '', diff(old, d.get('newText').text ?? ''))]
}

const did = { __proto__: null, add: 'new file', delete: 'deleted', move: 'moved', copy: 'copied' }

// changesOf are those of version 2 of ACP: what is done with each file, and a patch that may tell its lines.
function changesOf(item, name, d) {
  const patch = d.get('patch')
  const files = patchOf(patch.get('format').is('git_patch') ? patch.get('text').text ?? '' : '')
  return d.get('changes').list().map((c, n) => {
    const path = c.get('path').text ?? ''
    const from = c.get('oldPath').text
    return change(item, name + '.' + n, from === undefined ? path : from + ' → ' + path, did[c.get('operation').text] ?? 'changed', files.get(path))
  })
}

// change shows what is done to a file, in words and, where they are known, by its lines.
function change(item, name, path, words, told) {
  const { removed, added, hunks } = told ?? {}
  const box = el('div.diff', { data: { diff: true, path: oneLine(path) } },
    el('p.diff-head', null, el('span.path', null, oneLine(path)), el('span.counts', null,
      words !== '' ? el('span.new', null, words) : null,
      told !== undefined ? [el('span.minus', null, '−' + removed), el('span.plus', null, '+' + added)] : null)))
  if (told === undefined) return box
  const rows = []
  hunks.forEach((hunk, n) => {
    if (n > 0) rows.push(el('div.gap', { 'aria-hidden': 'true' }, '⋯'))
    for (const l of hunk) {
      rows.push(el('div.line', { data: { line: l.mark } },
        el('span.number', { 'aria-hidden': 'true' }, l.mark === '+' ? '' : String(l.before)),
        el('span.number', { 'aria-hidden': 'true' }, l.mark === '-' ? '' : String(l.after)),
        el('span.mark', null, l.mark === '-' ? '−' : l.mark), el('code', null, l.text)))
    }
  })
  const shown = rows.length > shownLines + 6 ? shownLines : rows.length
  box.append(el('div.lines', { tabindex: '0', role: 'group', 'aria-label': 'Changed lines of ' + oneLine(path) }, rows.slice(0, shown)))
  if (shown < rows.length) box.append(folding(item, name, ['… ' + count(rows.length - shown, 'more line')], () => [el('div.lines', null, rows.slice(shown))]))
  return box
}

const shownLines = 24
