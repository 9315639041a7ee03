// Blocks and what is in them as elements. Every one is made by name from a short list, and every text is a text node.

import { el, text } from '../dom.js'
import { oneLine } from '../visible.js'
import { blocks } from './blocks.js'
import { inline } from './inline.js'

/** markdown makes the elements of a text. @returns {Node[]} */
export function markdown(source) {
  const { root, refs } = blocks(source)
  return root.children.map((b) => block(b, refs))
}

/** block makes the element of one block. */
export function block(b, refs) {
  switch (b.type) {
    case 'heading': {
      const h = el('h' + Math.min(6, b.level + 2), { data: { level: b.level } })
      spans(h, inline(b.text, refs))
      return h
    }
    case 'code': {
      const code = el('code')
      text(code, b.text)
      const lang = (b.info ?? '').split(/\s/)[0]
      return el('pre', { data: { lang: lang === '' ? undefined : oneLine(lang) }, tabindex: '0', role: 'group', 'aria-label': 'Code' }, code)
    }
    case 'rule': return el('hr')
    case 'quote': return el('blockquote', null, b.children.map((c) => block(c, refs)))
    case 'list': return el(b.ordered ? 'ol' : 'ul', { start: b.ordered && b.first !== 1 ? b.first : undefined, class: b.tight ? undefined : 'loose' }, b.children.map((i) => item(i, b.tight, refs)))
    case 'table': return table(b, refs)
  }
  const p = el('p')
  spans(p, inline(b.text, refs))
  return p
}

/**
 * goesOn brings the element of a list or a table in step with one that begins like it: entries that are as they were
 * stay. It reports whether it did so; else nothing is changed.
 * @param {HTMLElement} e made of before @param {{block: Block, refs: Map}} before @param {{block: Block, refs: Map}} after
 */
export function goesOn(e, before, after) {
  const a = before.block
  const b = after.block
  if (a.type !== b.type || before.refs.size > 0 || after.refs.size > 0) return false
  if (b.type === 'list') {
    if (a.ordered !== b.ordered || a.first !== b.first || a.tight !== b.tight) return false
    replaceFrom(e, same(a.children, b.children, sameBlock), (n) => item(b.children[n], b.tight, after.refs), b.children.length)
    return true
  }
  if (b.type !== 'table' || a.rows.length === 0 || !sameText(a.aligns, b.aligns) || !sameText(a.header, b.header)) return false
  replaceFrom(e.querySelector('tbody'), same(a.rows, b.rows, sameText), (n) => row(b, b.rows[n], 'td', after.refs), b.rows.length)
  return true
}

// replaceFrom makes the children of an element anew from the one with this number on.
function replaceFrom(e, from, make, count) {
  while (e.childElementCount > from) e.lastElementChild.remove()
  for (let n = from; n < count; n++) e.append(make(n))
}

// same is how many entries two lists begin with alike.
function same(a, b, equal) {
  const most = Math.min(a.length, b.length)
  let n = 0
  while (n < most && equal(a[n], b[n])) n++
  return n
}

function sameText(a, b) { return a.length === b.length && a.every((s, n) => s === b[n]) }

function sameBlock(a, b) {
  return a.type === b.type && a.text === b.text && a.level === b.level && a.info === b.info && a.task === b.task && a.ordered === b.ordered && a.first === b.first && a.tight === b.tight &&
    a.children.length === b.children.length && a.children.every((c, n) => sameBlock(c, b.children[n])) &&
    (a.type !== 'table' || sameText(a.aligns, b.aligns) && sameText(a.header, b.header) && a.rows.length === b.rows.length && a.rows.every((r, n) => sameText(r, b.rows[n])))
}

function item(i, tight, refs) {
  const li = el('li', { class: i.task ? 'task' : undefined })
  for (const b of i.children) {
    if (tight && b.type === 'paragraph') spans(li, inline(b.text, refs))
    else li.append(block(b, refs))
  }
  if (i.task) (tight ? li : li.firstChild).prepend(el('input', { type: 'checkbox', disabled: true, checked: i.task === 'done', 'aria-label': i.task === 'done' ? 'done' : 'to do' }), ' ')
  return li
}

// row makes a row of a table. One cell stands for all that it leaves out: a short text makes no million of them.
function row(b, cells, tag, refs) {
  return el('tr', null, cells.map((c, n) => {
    const cell = el(tag, { class: b.aligns[n] ? 'to-' + b.aligns[n] : undefined, scope: tag === 'th' ? 'col' : undefined })
    spans(cell, inline(c, refs))
    return cell
  }), cells.length < b.aligns.length ? el('td', { colspan: b.aligns.length - cells.length }) : null)
}

function table(b, refs) {
  return el('div.wide', { tabindex: '0', role: 'group', 'aria-label': 'Table' },
    el('table', null, el('thead', null, row(b, b.header, 'th', refs)), b.rows.length > 0 ? el('tbody', null, b.rows.map((r) => row(b, r, 'td', refs))) : null))
}

// spans appends what a block's text holds.
function spans(e, nodes) {
  for (const n of nodes) {
    switch (n.type) {
      case 'text': text(e, n.text); break
      case 'soft': e.append('\n'); break
      case 'break': e.append(el('br')); break
      case 'code': e.append(el('code', null, n.text)); break
      case 'link': e.append(link(n)); break
      case 'image': e.append(image(n)); break
      default: {
        const inner = el(n.type)
        spans(inner, n.children)
        e.append(inner)
      }
    }
  }
}

// link leads out of the page, and says where. What leads elsewhere than to the web or to a mailbox is text.
function link(n) {
  const href = safe(n.href)
  if (href === null) {
    const s = el('span.no-link', { title: 'This address is not one that the page follows.' })
    spans(s, n.children)
    text(s, ' (' + n.href + ')')
    return s
  }
  const a = el('a', { href, rel: 'noreferrer noopener', target: '_blank', title: oneLine(n.href) })
  spans(a, n.children)
  const host = hostOf(href)
  if (!n.bare && !names(a.textContent, host)) a.dataset.where = host
  return a
}

// names reports whether a text is an address of a host. One that has the host anywhere else may lead anywhere.
function names(s, host) {
  const t = s.trim().toLowerCase().replace(/^(?:https?:\/\/|mailto:)/, '')
  return t.startsWith(host.toLowerCase()) && /^(?:[/?#]\S*)?$/.test(t.slice(host.length))
}

function hostOf(href) {
  const u = new URL(href)
  return u.protocol === 'mailto:' ? u.pathname : u.host
}

/** safe is an address that may be followed: of the web, or a mailbox; else null. */
export function safe(href) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href) || /[\u0000-\u001f\u007f]/.test(href)) return null
  try {
    const u = new URL(href)
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : null
  } catch {
    return null
  }
}

// image names what would be loaded.
function image(n) {
  const s = el('span.image', { title: 'Images are not loaded.' }, el('span.image-word', null, 'image'))
  text(s, ' ' + (n.alt ?? '') + (n.alt ? ' ' : ''))
  const where = el('span.image-where')
  text(where, n.href)
  s.append(where)
  return s
}
