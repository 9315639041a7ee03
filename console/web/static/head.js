// A transcript's heading: what it is, how it stands, and what can be done with all of it.

import { Cancel } from './cancel.js'
import { button, el, setData } from './dom.js'
import { Proof } from './proof.js'
import { copy as copyText } from './status.js'
import { idleOf, statusOf, titleOf } from './summary.js'
import { oneLine } from './visible.js'
import { count, moment, span } from './when.js'

/** head makes the heading; update() brings it in step, close() ends what it waits for. @param {Transcript} view */
export function head(view) {
  const title = el('h1', { dir: 'auto' })
  const badge = el('span.badge')
  const proof = new Proof(view)
  const cancel = new Cancel(view)
  const facts = el('p.facts')
  const records = button('records', 'Show all records, those too that other items say already', () => view.showRecords(!view.records), 'all records')
  const actions = el('div.actions', { role: 'group', 'aria-label': 'Of this transcript' }, el('span', { data: { slot: 'verify' } }, proof.button), el('span', { data: { slot: 'cancel' } }, cancel.button), records)
  const copy = button('copy', 'Copy the key', () => copyText(view.key, 'Key copied.'), 'copy')
  const update = () => {
    const s = view.model.summary
    const words = titleOf(s)
    if (title.textContent !== words) {
      title.replaceChildren(words)
      document.title = words + ' · steno'
    }
    const [status, means] = statusOf(s)
    setData(badge, { status: s.status })
    const idle = idleOf(s, view.fold.last || 0)
    const badgeWords = idle !== '' ? 'open, ' + idle : status
    if (badge.textContent !== badgeWords) badge.replaceChildren(badgeWords)
    badge.title = means
    records.setAttribute('aria-pressed', String(view.records))
    set(agent, oneLine(s.agent ?? ''))
    set(counts, (view.model.seen > s.events ? '' : count(s.frames, 'frame') + ', ') + count(Math.max(s.events, view.model.seen), 'event'))
    const end = view.fold.last || Date.parse(s.last_at)
    proof.update()
    cancel.update()
    set(took, s.first_at && !Number.isNaN(end) ? span(Math.max(0, end - Date.parse(s.first_at))) : '')
  }
  const s = view.model.summary
  const agent = el('span')
  const counts = el('span')
  const took = el('span', { title: 'From the first event to the last' })
  facts.append(el('span', null, s.protocol + (s.dialect ? ' ' + oneLine(s.dialect) : '')), agent, counts, took,
    s.first_at ? el('time', { datetime: s.first_at, title: moment(new Date(s.first_at)) }, 'began ' + moment(new Date(s.first_at)).replace(/ \(.*/, '')) : '',
    s.cwd ? el('span', { title: 'working directory' }, 'in ', el('code', null, oneLine(s.cwd))) : '',
    ...Object.entries(s.labels ?? {}).map(([k, v]) => el('span.label', null, oneLine(k) + '=' + oneLine(v))),
    s.unaccounted ? el('span.bad', null, count(s.unaccounted, 'frame') + ' unaccounted for') : '',
    el('span.key', null, el('code', { title: view.key }, view.key), copy))
  return { nodes: [el('div.title-line', null, el('a.back', { href: '/', title: 'All transcripts (u)', 'aria-label': 'All transcripts' }, '‹'), title, badge, actions), facts, proof.line, cancel.line, cancel.dialog], update, close: () => proof.close() }
}

function set(e, words) {
  if (e.textContent !== words) e.textContent = words
}
