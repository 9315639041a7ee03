// What is said on one line: notes, ends of turns, records, and how the recording itself went.

import { cardWords, fileWords, partOf, taskState } from '../a2a.js'
import { el } from '../dom.js'
import { faultWords } from '../fold.js'
import { membersOf, brief, unbase64 } from '../readable.js'
import { oneLine } from '../visible.js'
import { count, size } from '../when.js'
import { excerpt, flagsOf } from './parts.js'

const stops = {
  __proto__: null,
  EndTurn: ['end of turn', 'quiet'], ToolUse: ['stopped for a tool', 'quiet'], LimitReached: ['stopped: limit reached', 'warn'],
  Cancelled: ['cancelled', 'warn'], Error: ['failed', 'bad'], Other: ['stopped', 'warn'],
}

/** stop makes the line that ends a turn. */
export function stop(view, item) {
  const reason = view.stored(item).kind.get('reason')
  const [words, tone] = stops[item.reason] ?? ['stopped: ' + oneLine(item.reason), 'quiet']
  const detail = reason.get('message').text ?? reason.get('reason').text ?? ''
  const turn = view.turnMs(item)
  return [el('p.line.stop-line', { data: { tone } }, el('span.words', null, words + (detail === '' ? '' : ': ' + oneLine(detail))),
    turn === null ? null : el('span.aside', { title: 'Since the user’s message' }, ' after ' + turn), flagsOf(item))]
}

const told = [['interrupted: ', '?', 'warn'], ['resumed: ', '▸', 'plain'], ['stream error', '✗', 'bad'],
  ['stream ended without a terminal state', '!', 'warn'], ['conflicting terminal state: ', '!', 'warn']]

/** note makes a remark: of the agent, or of the fold about how a task stands. */
export function note(view, item) {
  const s = item.open ? item.text : view.stored(item).kind.get('detail').get('text').text ?? ''
  const [, mark, tone] = told.find((t) => s.startsWith(t[0])) ?? ['', '·', 'quiet']
  if (!s.trim().includes('\n') && s.length < 300) return [line(mark, tone, oneLine(s), '', flagsOf(item))]
  return [el('div.note-text', { data: { tone } }, excerpt(item, 'note', s)), ...flagsOf(item)]
}

function line(mark, tone, what, more, rest = []) {
  return el('p.line', { data: { tone } }, el('span.line-mark', { 'aria-hidden': 'true' }, mark), el('span.words', null, what),
    more === '' ? null : el('span.more-words', null, ' ' + more.slice(0, 600)), rest)
}

/** usage makes an estimate of tokens. */
export function usage(view, item) {
  const d = view.stored(item).kind.get('detail')
  const words = [['input_tokens', 'in'], ['output_tokens', 'out']].filter(([n]) => d.get(n).present).map(([n, w]) => count(Number(d.get(n).raw), 'token') + ' ' + w)
  return [line('·', 'quiet', 'usage', words.join(', '), flagsOf(item))]
}

/** record makes a payload that only a record has. */
export function record(view, item) {
  const v = view.stored(item).kind.get('value')
  let more
  if (item.say === 'card') more = cardWords(v)
  else if (item.say === 'state') more = taskState(v)
  else if (v.present) more = brief(v)
  else more = membersOf(view.stored(item).kind)
  return [line('·', 'quiet', oneLine(item.label), oneLine(more), flagsOf(item))]
}

/** fault makes a call that failed, which nothing else says. */
export function fault(view, item) {
  const v = view.stored(item).kind.get('value')
  return [line('✗', 'bad', oneLine(item.label) + ' failed', oneLine(faultWords(v) || brief(v)), flagsOf(item))]
}

/** refused makes a request that the client refused. */
export function refused(view, item) {
  const v = view.stored(item).kind.get('value')
  return [line('✗', 'bad', 'refused ' + oneLine(item.label), oneLine(v.get('reason').text ?? ''), flagsOf(item))]
}

/** noise makes what stood between the frames. */
export function noise(view, item) {
  const s = unbase64(view.stored(item).kind.get('value'))
  if (s === undefined) return record(view, item)
  return [el('p.line', null, el('span.words', null, item.label), flagsOf(item)), ...excerpt(item, 'noise', s)]
}

const controls = {
  open: ['recording began', 'quiet'], close: ['recording ended', 'quiet'], gap: ['not everything was kept', 'bad'],
  broke: ['exchange broke off', 'warn'], unseen: ['exchange not seen to its end', 'warn'],
}

/** control makes how the recording began and ended, and what was not kept. */
export function control(view, item) {
  const v = view.stored(item).kind.get('value')
  const [words, tone] = controls[item.label]
  let more = brief(v)
  if (item.label === 'broke') more = v.get('error').text ?? ''
  if (item.label === 'unseen') more = v.get('reason').text ?? ''
  return [line(tone === 'quiet' ? '■' : '!', tone, words, oneLine(more), flagsOf(item))]
}

/** part makes a part of a message of A2A that is not text. */
export function part(view, item) {
  const v = view.stored(item).kind.get('value')
  const { kind, value } = partOf(v)
  let words
  if (kind === 'data') words = [oneLine(membersOf(value))]
  else if (kind === 'raw' || kind === 'url') {
    const f = fileWords(v, kind)
    words = [...f.words.map(oneLine), ...(f.bytes === null ? [] : [size(f.bytes)])]
  } else words = [oneLine(brief(v))]
  return [el('p.attachment', null, [kind, ...words].join(' · ').slice(0, 2000), flagsOf(item))]
}
