// A tool's card: what is called, how far it is, what it was given, what it was allowed, what it changed, what it gave.

import { el } from '../dom.js'
import { none, read, trusted } from '../json.js'
import { isGiven, scalar } from '../readable.js'
import { oneLine } from '../visible.js'
import { span } from '../when.js'
import { asksOf, decide, largeWords, offered } from './permission.js'
import { changes, excerpt, flagsOf, line, values } from './parts.js'

/**
 * stateOf is the card as its events up to a moment make it.
 * @param {object} view has model and until: ms, or Infinity
 */
export function stateOf(view, item) {
  const known = view.countUntil(item)
  const key = known + '/' + item.rev
  if (item.state?.key === key) return item.state
  const s = { key, name: '', title: '', kind: '', input: none, phase: {}, output: none, content: [], failed: false, result: false, asks: [], edits: [], places: [], since: NaN, called: item.at }
  for (let n = 0; n < known; n++) {
    const e = trusted(view.model.texts[item.seqs[n]])
    const k = e.get('kind')
    take(s, k, () => Date.parse(e.get('emitted_at').text))
  }
  if (item.live !== undefined && view.until === Infinity) takeState(s, item.live, (name) => value(item.live, name))
  return item.state = s
}

function take(s, k, at) {
  switch (k.get('kind').text) {
    case 'ToolCall':
      s.name = k.get('tool').text ?? ''
      if (isGiven(k.get('input'))) s.input = k.get('input')
      break
    case 'ToolResult':
      s.result = true
      s.failed = k.get('is_error').kind === 'true'
      if (isGiven(k.get('output'))) s.output = k.get('output')
      takeDiffs(s, unfold(s.output).list()) // a frame so large that its record has no value: the result has it whole
      break
    case 'ToolState': {
      const tool = k.get('tool')
      const before = s.phase.phase
      takeState(s, JSON.parse(tool.raw), (name) => name.split('.').reduce((v, part) => v.get(part), tool))
      if (s.phase.phase !== before) s.since = at()
      break
    }
    case 'Raw': takeRaw(s, k.get('source').text, k.get('value'))
  }
}

function takeState(s, tool, valueOf) {
  s.name = tool.name ?? s.name
  s.title = tool.title ?? ''
  s.phase = tool.state
  const input = ['input', 'state.input', 'state.partialInput'].map(valueOf).find(isGiven)
  if (input !== undefined) s.input = input
  if (!s.output.present && typeof tool.state.output === 'string') s.output = valueOf('state.output')
}

function value(object, name) {
  const v = name.split('.').reduce((o, part) => o?.[part], object)
  return v === undefined ? none : trusted(JSON.stringify(v))
}

function takeRaw(s, source, v) {
  if (source === 'session/request_permission') {
    s.asks.push({ options: offered(v.get('options')), decided: '', allowed: null, large: largeWords(v) })
    takeDiffs(s, v.get('toolCall').get('content').list())
  } else if (source === 'session/request_permission/decision') {
    const open = s.asks.find((a) => a.decided === '')
    if (open !== undefined) Object.assign(open, decide(v))
    else s.asks.push(decide(v))
  } else {
    s.kind = v.get('kind').text ?? s.kind
    const places = v.get('locations').list().map((l) => (l.get('path').text ?? '') + (l.get('line').present ? ':' + l.get('line').raw : '')).filter((p) => p !== '')
    if (places.length > 0) s.places = places
    const content = v.get('content').list()
    takeDiffs(s, content)
    const said = content.filter((c) => !isDiff(c))
    if (said.length > 0) s.content = said // the last there is: content is sent whole
  }
}

const isDiff = (c) => c.get('type').is('diff')

function takeDiffs(s, content) {
  const edits = content.filter(isDiff)
  if (edits.length > 0) s.edits = edits
}

const cancelled = { __proto__: null, denied: 'denied', interrupted: 'interrupted', timeout: 'timed out' }

/** phaseWords says a phase by a mark and in words. */
export function phaseWords(s) {
  const p = s.phase
  const elapsed = typeof p.elapsedMs === 'number' ? ' · ' + span(p.elapsedMs) : ''
  switch (p.phase) {
    case 'streaming': return { mark: '○', words: 'called', tone: 'quiet' }
    case 'waiting_confirmation': return { mark: '?', words: 'waits for permission', tone: 'warn' }
    case 'executing': return { mark: '▸', words: 'running' + (p.progress ? ' · ' + oneLine(p.progress) : ''), tone: 'run' }
    case 'completed': return p.success ? { mark: '✓', words: 'done' + elapsed, tone: 'good' } : { mark: '✗', words: 'failed' + elapsed, tone: 'bad' }
    case 'cancelled': return { mark: '⊘', words: (cancelled[p.reason] ?? 'cancelled') + (p.message ? ': ' + oneLine(p.message) : ''), tone: 'bad' }
  }
  if (s.output.present) return s.failed ? { mark: '✗', words: 'failed', tone: 'bad' } : { mark: '✓', words: 'done', tone: 'good' }
  return { mark: '○', words: p.phase ? oneLine(p.phase) : 'called', tone: 'quiet' }
}

/** labelOf is the tool's name, and its title where that says more. */
export function labelOf(s, item) {
  const name = oneLine(s.name)
  const title = oneLine(s.title)
  if (name === '' && title === '') return [oneLine(item.tool), '']
  if (name === '' || name === title) return [title, '']
  return [name, title]
}

/** tool makes the card's content. */
export function tool(view, item) {
  const s = stateOf(view, item)
  const { mark, words, tone } = phaseWords(s)
  const [label, title] = labelOf(s, item)
  const by = s.phase.confirmedBy
  const head = el('header.card-head', null,
    el('span.phase-mark', { 'aria-hidden': 'true', data: { tone } }, mark),
    el('span.tool-name', null, label),
    title !== '' ? el('span.tool-title', null, title) : null,
    s.kind !== '' && s.kind !== 'other' ? el('span.tool-kind', null, oneLine(s.kind)) : null,
    flagsOf(item),
    el('span.phase', { data: { tone } }, words,
      s.phase.phase === 'executing' && view.until === Infinity ? el('span.since', { data: { since: s.since } }) : null,
      by && s.asks.length === 0 ? el('span.by', { title: { __proto__: null, user: 'A person allowed it.', auto: 'The client allowed it by itself.', setting: 'A policy allowed it.' }[by] }, ' · allowed by ' + oneLine(by)) : null))
  const body = el('div.card-body')
  const given = onlyTitle(s, label, title) ? [] : values(item, 'input', s.input)
  if (given.length > 0) body.append(el('section.given', { 'aria-label': 'Input' }, given))
  if (s.places.length > 0 && s.edits.length === 0 && !line(s.input).includes(s.places[0])) body.append(el('p.places', null, s.places.map((p) => el('code', null, oneLine(p)))))
  if (s.asks.length > 0) body.append(...asksOf(s.asks, s.phase.phase === 'completed' || s.phase.phase === 'cancelled'))
  s.edits.forEach((d, n) => body.append(...changes(item, 'diff.' + n, d)))
  const got = s.output.present ? outputOf(item, s) : []
  if (!says(s.output, s.content)) got.push(...values(item, 'content', listOf(s.content)))
  if (got.length > 0) body.append(el('section.got', { 'aria-label': 'Output', data: { failed: s.failed || undefined } }, got))
  return { head, body: body.childNodes.length > 0 ? body : null, state: s }
}

// onlyTitle: an input that says no more than the card's head.
function onlyTitle(s, label, title) {
  return s.input.kind === 'string' && (s.input.text === label || s.input.text === title)
}

// unfold is the value that a string holds, where it is a list or an object written as text; else the value itself.
function unfold(v) {
  if (v.kind !== 'string' || !/^\s*[{[]/.test(v.text)) return v
  const inner = read(v.text)
  return inner.present ? inner : v
}

function listOf(values) { return trusted('[' + values.map((v) => v.raw).join(',') + ']') }

// says reports whether an output says already what the content does: it is the content, or its text.
function says(output, content) {
  if (content.length === 0) return true
  if (!output.present) return false
  const list = unfold(output)
  if (list.kind === 'array' && content.every((c) => list.list().some((o) => o.raw === c.raw))) return true
  const text = content.map((c) => c.get('content').get('text').text ?? '').join('')
  return text !== '' && scalar(output).trim() === text.trim()
}

function outputOf(item, s) {
  if (s.output.kind === 'string' && !/^\s*[{[]/.test(s.output.text)) return s.output.text.trim() === '' ? [] : excerpt(item, 'output', s.output.text)
  return values(item, 'output', s.output)
}
