// A permission: what the agent asks to be allowed, what could be answered, what was, and by whom.

import { el } from '../dom.js'
import { none, trusted } from '../json.js'
import { oneLine } from '../visible.js'
import { flagsOf } from './parts.js'

/** offered lists the options of a request. @returns {{id: string, name: string, kind: string}[]} */
export function offered(options) {
  return options.list().map((o) => ({ id: o.get('optionId').text ?? '', name: oneLine(o.get('name').text || o.get('optionId').text || '?'), kind: o.get('kind').text ?? '' }))
}

/** largeWords says where a request is that is too large to stand in its record; empty where it stands there. */
export function largeWords(v) {
  const frame = v.get('ref').get('frame')
  return frame.present && !v.get('options').present ? 'too large to show, frame ' + frame.raw : ''
}

/** decide reads a decision. */
export function decide(v) {
  const outcome = v.get('outcome')
  const a = { options: offered(v.get('offered')), chosen: null, decided: '', allowed: false, policy: v.get('policy').text ?? '' }
  if (outcome.get('outcome').is('selected')) {
    a.chosen = outcome.get('optionId').text ?? ''
    const option = a.options.find((o) => o.id === a.chosen)
    a.known = option !== undefined
    a.decided = option?.name ?? oneLine(a.chosen)
    a.allowed = option?.kind === 'allow_once' || option?.kind === 'allow_always'
  } else if (outcome.get('outcome').kind === 'string') a.decided = oneLine(outcome.get('outcome').text)
  else a.decided = oneLine('no decision: ' + (v.get('error').get('message').text ?? ''))
  return a
}

/** asksOf shows permissions, one below the other. @param {boolean} over nobody will answer any more */
export function asksOf(asks, over = false) {
  return asks.map((a) => {
    const open = a.decided === ''
    const by = a.policy && a.policy !== 'client' ? ' by policy ' + oneLine(a.policy) : ''
    return el('section.ask', { 'aria-label': 'Permission', data: { ask: true, decided: open ? 'open' : a.allowed ? 'yes' : 'no' } },
      el('span.ask-word', null, wordOf(a, open, over) + by),
      a.options.length > 0
        ? el('span.options', null, a.options.map((o) => el('span.option', { data: { option: o.id, chosen: o.id === a.chosen && !open } },
          o.id === a.chosen && !open ? el('span.chosen-mark', { 'aria-hidden': 'true' }, a.allowed ? '✓ ' : '✗ ') : null, o.name)))
        : a.large ? null : el('span.aside', null, 'nothing to choose from'),
      a.large ? el('span.aside', { data: { large: true } }, a.large) : null,
      !open && !(a.chosen && a.known) ? el('span.aside', null, a.decided) : null)
  })
}

function wordOf(a, open, over) {
  if (open) return over ? 'Asked, not answered' : 'May it?'
  if (a.chosen === null) return 'Not decided'
  return a.allowed ? 'Allowed' : a.known ? 'Refused' : 'Answered'
}

/** permission makes the content of a permission that names no tool. */
export function permission(view, item) {
  const ask = { options: [], decided: '', allowed: false }
  let title = none
  for (let n = 0; n < view.countUntil(item); n++) {
    const k = trusted(view.model.texts[item.seqs[n]]).get('kind')
    const v = k.get('value')
    if (k.get('source').text.endsWith('/decision')) Object.assign(ask, decide(v))
    else {
      ask.large = largeWords(v)
      ask.options = offered(v.get('options'))
      title = v.get('toolCall').get('title')
    }
  }
  return [el('p.line', null, el('strong', null, 'permission'), title.text ? ' ' + oneLine(title.text) : null, flagsOf(item)), ...asksOf([ask])]
}
