// A plan: the agent's list of what is to be done. The latest one stands open; those that it took the place of are folded.

import { el } from '../dom.js'
import { scalar } from '../readable.js'
import { oneLine } from '../visible.js'
import { flagsOf, folding } from './parts.js'

const marks = { __proto__: null, completed: '✓', in_progress: '▸' }
const words = { __proto__: null, completed: 'done', in_progress: 'in progress', pending: 'to do' }

/** plan makes the content of a plan. */
export function plan(view, item) {
  const v = view.stored(item).kind.get('value')
  const list = v.get('entries').present ? v.get('entries') : v.get('plan').get('entries')
  const entries = list.list().map((e) => ({ status: e.get('status').text ?? 'pending', text: oneLine(e.get('content').text ?? scalar(e)), priority: e.get('priority').text ?? '' }))
  const done = entries.filter((e) => e.status === 'completed').length
  const now = entries.find((e) => e.status === 'in_progress')
  const older = view.isOlder(item)
  const head = [el('strong', null, 'plan'), entries.length === 0 ? null : el('span.aside', null, ' ' + done + ' of ' + entries.length + ' done' + (older && now ? ' · ' + now.text : '')), ...flagsOf(item)]
  const rows = () => [entries.length === 0 ? el('p.aside', null, '(nothing)') : el('ul.entries', null, entries.map((e) => el('li', { data: { entry: true, status: e.status } },
    el('span.entry-mark', { role: 'img', 'aria-label': words[e.status] ?? e.status }, marks[e.status] ?? '○'), el('span.entry-text', null, e.text),
    e.priority === 'high' ? el('span.aside', null, ' high') : null)))]
  if (older) return [folding(item, 'plan', head, rows)]
  return [el('div.card.plan-card', null, el('p.line', null, head), ...rows())]
}
