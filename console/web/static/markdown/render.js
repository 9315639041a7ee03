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

function item(i, tight, refs) {
  const li = el('li', { class: i.task ? 'task' : undefined })
  for (const b of i.children) {
    if (tight && b.type === 'paragraph') spans(li, inline(b.text, refs))
    else li.append(block(b, refs))
  }
  if (i.task) (tight ? li : li.firstChild).prepend(el('input', { type: 'checkbox', disabled: true, checked: i.task === 'done', 'aria-label': i.task === 'done' ? 'done' : 'to do' }), ' ')
  return li
}

function table(b, refs) {
  // One cell stands for all that a row leaves out: a short text makes no million of them.
  const row = (cells, tag) => el('tr', null, cells.map((c, n) => {
    const cell = el(tag, { class: b.aligns[n] ? 'to-' + b.aligns[n] : undefined, scope: tag === 'th' ? 'col' : undefined })
    spans(cell, inline(c, refs))
    return cell
  }), cells.length < b.aligns.length ? el('td', { colspan: b.aligns.length - cells.length }) : null)
  return el('div.wide', { tabindex: '0', role: 'group', 'aria-label': 'Table' },
    el('table', null, el('thead', null, row(b.header, 'th')), b.rows.length > 0 ? el('tbody', null, b.rows.map((r) => row(r, 'td'))) : null))
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
  if (!n.bare && !a.textContent.includes(host)) a.dataset.where = host
  return a
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
