// A row for each item: who and when at the edge, what was said beside it.

import { el, setData } from './dom.js'
import { message, textOf, thought } from './cards/message.js'
import { permission } from './cards/permission.js'
import { plan } from './cards/plan.js'
import { control, fault, noise, note, part, record, refused, stop, usage } from './cards/small.js'
import { excerpt, flagsOf } from './cards/parts.js'
import { tool } from './cards/tool.js'
import { oneLine } from './visible.js'
import { clock, moment } from './when.js'

const makers = { plan, permission, note, usage, stop, refused, fault, noise, control, part, record }
const spoken = new Set(['user', 'agent', 'message'])

/** make makes the row of an item. @param {View} view */
export function make(view, item, index) {
  const row = el('article.item', { tabindex: '-1' })
  row.item = item
  const edge = el('div.edge')
  const said = el('div.said')
  row.append(edge, said)
  row.parts = { edge, said }
  fill(view, row, item)
  update(view, row, item, index)
  return row
}

/** update brings a row in step with its item. */
export function update(view, row, item, index) {
  const key = view.keyOf(item)
  if (row.key !== key) {
    if (row.grow !== undefined && row.kindKey === kindKey(view, item)) row.grow(textOf(view, item))
    else fill(view, row, item)
    row.key = key
  }
  const state = index + '/' + (view.target === item) + '/' + (item.kind === 'plan' && view.isOlder(item))
  if (row.state !== state) {
    row.state = state
    setData(row, { index, target: view.target === item, older: item.kind === 'plan' && view.isOlder(item) })
  }
  if (row.selected !== (view.selected === item)) {
    row.selected = view.selected === item
    if (row.selected) row.setAttribute('aria-current', 'true')
    else row.removeAttribute('aria-current')
  }
  stand(row, 'aria-posinset', view.window.placeOf(index))
  stand(row, 'aria-setsize', !view.model.complete ? -1 : view.records ? view.fold.items.length : view.fold.shown)
  separate(view, row, item, index)
}

function stand(row, name, value) {
  if (row[name] === value) return
  row[name] = value
  row.setAttribute(name, String(value))
}

// kindKey is what must stay for a row to grow rather than be made anew.
function kindKey(view, item) { return item.kind + '/' + item.seq + '/' + item.open + '/' + view.isTyping(item) }

function fill(view, row, item) {
  const { edge, said } = row.parts
  row.className = 'item k-' + item.kind + (item.hidden ? ' also' : '')
  row.kindKey = kindKey(view, item)
  row.grow = undefined
  row.key = view.keyOf(item)
  setData(row, { item: true, kind: item.kind, seq: item.seq || undefined, open: item.open || view.isTyping(item), tool: undefined, phase: undefined, success: undefined })
  const who = speaker(view, item)
  edge.replaceChildren(...edgeOf(view, item, who))
  row.setAttribute('aria-label', (who || item.kind) + ', ' + clock(view.since(item)))
  try {
    said.replaceChildren(...content(view, row, item))
  } catch (fault) { // what one item says must not keep the others from being read
    console.error(fault)
    row.grow = undefined
    said.replaceChildren(...asSent(view, item))
  }
}

// asSent is the last resort for an item: its events as they are stored.
function asSent(view, item) {
  const source = item.seqs.map((seq) => view.model.texts[seq]).join('\n')
  return [el('p.line', { data: { fault: true } }, el('span.words', null, 'This cannot be shown as what it is; as it is stored:')), ...excerpt(item, 'stored', item.open ? item.text : source)]
}

function content(view, row, item) {
  switch (item.kind) {
    case 'thought': {
      const t = thought(view, item)
      row.grow = t.grow
      return t.nodes
    }
    case 'tool': {
      const { head, body, state } = tool(view, item)
      setData(row, { tool: item.tool, phase: state.phase.phase ?? '', success: state.phase.phase === 'completed' ? String(state.phase.success === true) : undefined })
      return [el('div.card', null, head, body)]
    }
    default:
      if (spoken.has(item.kind)) {
        const m = row.message = message(view, item, row.message)
        row.grow = m.grow
        return item.flags.length > 0 ? [el('p.flags', null, flagsOf(item)), ...m.nodes] : m.nodes
      }
      return makers[item.hidden ? 'record' : item.kind](view, item)
  }
}

// speaker is who an item is from, as people read it.
function speaker(view, item) {
  const revised = item.revision > 1 ? ' (revised)' : ''
  const agent = item.agent ? ' · ' + oneLine(item.agent) : ''
  switch (item.kind) {
    case 'user': return 'user' + agent + revised
    case 'agent': return oneLine(view.agent || 'agent') + agent + revised
    case 'message': return oneLine(item.role.toLowerCase()) + agent + revised
  }
  return ''
}

function edgeOf(view, item, who) {
  const at = view.since(item)
  const label = 'Inspect ' + (who || item.kind) + ' at ' + clock(at)
  const button = el('button.who', { type: 'button', 'aria-label': label, title: 'Inspect: the event and its frames', data: { select: true, action: 'inspect' } }, who === '' ? mark : who)
  const time = item.seq
    ? el('a.time', { href: '?seq=' + item.seq, title: moment(new Date(item.at)) + ' · event ' + item.seq, data: { permalink: true } }, clock(at))
    : el('span.time', null, clock(at))
  return [button, time]
}

const mark = '›'

// separate says which task what follows belongs to, where a conversation has several.
function separate(view, row, item, index) {
  const task = view.taskBegins(item, index)
  const old = row.separator
  if (task === '') {
    old?.remove()
    row.separator = undefined
    return
  }
  if (old?.dataset.task === task) return
  old?.remove()
  row.separator = el('p.task', { data: { task } }, el('span', null, 'task ' + oneLine(task)))
  row.prepend(row.separator)
}
