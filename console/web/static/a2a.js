// What is inside frames of A2A, of every dialect: labels of their records, messages of statuses, parts, errors. It
// reads what the translator reads, as leniently.

import { none, read } from './json.js'

/** labelOf takes the source of a frame's record apart: a2a/<version>/<binding>/<method>/<last>. */
export function labelOf(source) {
  const parts = source.split('/')
  if (parts.length < 4) return { method: '', last: parts[parts.length - 1] }
  const rest = parts.slice(3)
  const last = rest.pop()
  const method = rest.join('/')
  return { method: method === 'unknown' ? '' : method, last }
}

const sending = new Set(['tasks/send', 'tasks/sendSubscribe', 'message/send', 'message/stream', 'SendMessage', 'SendStreamingMessage'])

/** sends reports whether a label's method is one that brings the user's words. */
export function sends(label) { return sending.has(label.method) }

/** field is an object's member in camelCase: as spelt, else in snake_case, else in any other case. */
export function field(object, name) {
  let found = none
  let best = -1
  for (const m of object.kind === 'object' ? object.children() : []) {
    const how = spelling(m.name, name)
    if (how >= 0 && how >= best) {
      found = m
      best = how
    }
  }
  return found
}

function spelling(key, name) {
  if (key === name) return 2
  if (key.replaceAll('_', '').toLowerCase() !== name.toLowerCase()) return -1
  return key === name.replace(/[A-Z]/g, (c) => '_' + c.toLowerCase()) ? 1 : 0
}

const textField = (object, name) => field(object, name).text ?? ''

/** envelope reads a JSON-RPC object or a bare one. */
export function envelope(v) {
  const fault = field(v, 'error')
  const rpc = v.get('jsonrpc').present || v.get('id').present && (v.get('result').present || v.get('error').present)
  if (v.get('method').kind === 'string' && (rpc || field(v, 'params').present)) return { params: field(v, 'params'), result: none, error: none }
  if (rpc) return { params: none, result: field(v, 'result'), error: fault.given ? fault : none }
  if (fault.kind === 'object') return { params: none, result: v, error: fault }
  if (v.get('title').kind === 'string' && v.get('status').kind === 'number' && !field(v, 'id').present) return { params: none, result: none, error: v }
  return { params: none, result: v, error: none }
}

/** faultText is an error in words. */
export function faultText(fault) {
  if (fault.kind === 'string') return fault.text
  let code = field(fault, 'code').text ?? field(fault, 'code').raw
  const status = field(fault, 'status')
  if (status.kind === 'string') code = status.text
  else if (status.kind === 'number' && code === '') code = status.raw
  const message = textField(fault, 'message') || textField(fault, 'detail') || textField(fault, 'title')
  return code !== '' && message !== '' ? code + ' ' + message : code + message
}

const arms = ['task', 'message', 'statusUpdate', 'artifactUpdate']
const kinds = { __proto__: null, task: 'task', message: 'message', 'status-update': 'statusUpdate', 'artifact-update': 'artifactUpdate' }

/** armsOf finds the objects in an answer: {kind, value}. */
export function armsOf(v, depth = 0) {
  if (v.kind !== 'object' || depth > 2) return []
  const kind = kinds[field(v, 'kind').text]
  if (kind !== undefined) return [{ kind, value: v }]
  if (v.get('role').kind !== 'string') {
    const found = []
    for (const k of arms) {
      const inner = field(v, k)
      if (inner.kind === 'object') found.push({ kind: k, value: inner })
    }
    if (found.length > 0) return found
  }
  const byFields = kindByFields(v)
  if (byFields !== '') return [{ kind: byFields, value: v }]
  const root = v.get('root')
  if (root.kind === 'object') return armsOf(root, depth + 1)
  const payload = v.get('payload')
  const found = []
  for (const k of arms) {
    if (!payload.get('$case').is(k)) continue
    const inner = payload.get('value').present ? payload.get('value') : payload.get(k)
    if (inner.kind === 'object') found.push({ kind: k, value: inner })
  }
  return found
}

function kindByFields(v) {
  const hasID = field(v, 'id').given || field(v, 'taskId').given
  const status = field(v, 'status')
  if (field(v, 'artifact').kind === 'object' && (hasID || field(v, 'contextId').given)) return 'artifactUpdate'
  if (status.given && field(v, 'taskId').given) return 'statusUpdate'
  if (field(v, 'id').given && (status.given || field(v, 'state').given)) return 'task'
  if (field(v, 'role').given || field(v, 'parts').kind === 'array') return 'message'
  return ''
}

/** statusOf is the status of a task or of an update. */
export function statusOf(v) {
  const status = field(v, 'status')
  return status.given ? status : field(v, 'state')
}

const numbers = ['unknown', 'submitted', 'working', 'completed', 'failed', 'canceled', 'input-required', 'rejected', 'auth-required']

// Tables that words of a peer are looked up in inherit nothing.
const otherwise = { __proto__: null, cancelled: 'canceled', unspecified: 'unknown' }

/** stateOf is a status's state, as 0.3 spells it. */
export function stateOf(status) {
  const v = status.kind === 'object' ? field(status, 'state') : status
  if (v.kind === 'number') return numbers[v.raw] ?? v.raw
  const word = (v.text ?? '').toLowerCase().replaceAll('_', '-').replace(/^task-state-/, '').replace(/^taskstate\./, '')
  return otherwise[word] ?? word
}

/** partsOf are the parts of a message or an artifact. */
export function partsOf(v) {
  const list = field(v, 'parts').given ? field(v, 'parts') : field(v, 'content')
  if (list.kind === 'array') return list.list().filter((p) => p.kind === 'object' || p.kind === 'string')
  if (list.kind === 'object' || list.kind === 'string') return [list]
  const text = field(v, 'text')
  return text.kind === 'string' ? [text] : []
}

/** partOf says what a part holds: text, raw, url, data or empty, and that. */
export function partOf(part, depth = 0) {
  if (part.kind === 'string') return { kind: 'text', value: part }
  const text = field(part, 'text')
  if (text.kind === 'string') return { kind: 'text', value: text }
  const root = field(part, 'root')
  if (root.kind === 'object' && depth < 3) return partOf(root, depth + 1)
  const content = field(part, 'content')
  if (content.kind === 'object') {
    const name = content.get('$case').text ?? ''
    const value = content.get('value').present ? content.get('value') : field(content, name)
    if (name === 'text' && value.kind === 'string') return { kind: 'text', value }
    if (name === 'raw' || name === 'bytes') return { kind: 'raw', value: part }
    if (name === 'url' || name === 'uri') return { kind: 'url', value: part }
    if (name === 'data' && value.present) return { kind: 'data', value }
  }
  const file = field(part, 'file')
  if (file.kind === 'object') return { kind: ['bytes', 'fileWithBytes', 'raw'].some((n) => field(file, n).given) ? 'raw' : 'url', value: part }
  if (field(part, 'raw').given || field(part, 'bytes').given) return { kind: 'raw', value: part }
  if (field(part, 'url').given || field(part, 'uri').given) return { kind: 'url', value: part }
  const data = field(part, 'data')
  return data.present ? { kind: 'data', value: data } : { kind: 'empty', value: part }
}

/** fileWords name a file of any dialect: its name, where it is, its type, its size. */
export function fileWords(part, kind) {
  const holders = [part, field(part, 'file')]
  const first = (...names) => {
    for (const h of holders) for (const n of names) if (textField(h, n) !== '') return textField(h, n)
    return ''
  }
  const words = [first('filename', 'name'), first('url', 'uri', 'fileWithUri'), first('mediaType', 'mimeType')].filter((w) => w !== '')
  const encoded = kind === 'raw' ? first('raw', 'bytes', 'fileWithBytes').replace(/=+$/, '') : ''
  return { words, bytes: kind === 'raw' ? Math.floor(encoded.length * 3 / 4) : null }
}

const telling = new Set(['statusUpdate', 'task', 'several', 'ambiguous'])

/** statusesOf are the texts of the statuses in a frame's record that say something. @param {string} text the record's value */
export function statusesOf(last, text) {
  if (!telling.has(last)) return []
  const said = []
  for (const a of armsOf(envelope(read(text)).result)) {
    const words = partsOf(field(statusOf(a.value), 'message')).map((p) => partOf(p)).filter((p) => p.kind === 'text').map((p) => p.value.text)
    if (words.join('\n') !== '') said.push(words.join('\n'))
  }
  return said
}

/** cardWords is an agent's card in a few words. */
export function cardWords(card) {
  const words = ['name', 'version', 'description'].map((n) => textField(card, n)).filter((t) => t !== '')
  const skills = field(card, 'skills').list().length
  if (skills > 0) words.push(skills + (skills === 1 ? ' skill' : ' skills'))
  return words.join(' · ')
}

/** taskState is the state of the task in an answer. */
export function taskState(v) {
  const task = armsOf(envelope(v).result).find((a) => a.kind === 'task')
  return task === undefined ? '' : stateOf(statusOf(task.value))
}
