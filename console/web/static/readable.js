// Values as people read them: on one line, or as parts of a card. Nothing here changes what a value says.

import { compact, read } from './json.js'
import { size } from './when.js'
import { oneLine } from './visible.js'

/** scalar is a value on one line: a string as it reads, anything else as its JSON. */
export function scalar(v) { return v.text ?? compact(v.raw) }

/** kindWords names the type of a content block. */
export function kindWords(part) {
  const kind = part.get('type').text
  return kind === undefined || kind === '' ? 'part' : kind.replaceAll('_', ' ')
}

/** unbase64 is the text inside {"base64":…}; undefined where it is something else. */
export function unbase64(v) {
  const encoded = v.get('base64').text
  if (encoded === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0))
    return new TextDecoder('utf-8').decode(bytes)
  } catch {
    return undefined
  }
}

/** membersOf is an object on one line, without what its place says anyway. */
export function membersOf(v, leave = '') {
  if (v.kind !== 'object') return scalar(v)
  return v.list().filter((m) => m.name !== leave).map((m) => m.name + ' ' + scalar(m)).join(', ')
}

/** brief is what a record says, without the envelope that its source names already. @param {Value} v */
export function brief(v) {
  const text = unbase64(v)
  if (text !== undefined) return text
  if (v.get('jsonrpc').present) {
    const inner = ['params', 'result', 'error'].map((name) => v.get(name)).find((m) => m.present)
    if (inner !== undefined) v = inner
  }
  return membersOf(v, 'sessionId')
}

/** attachmentWords names a part that is not text. */
export function attachmentWords(part) {
  const words = [kindWords(part)]
  const resource = part.get('resource')
  for (const v of [part.get('name'), part.get('title'), part.get('uri'), resource.get('uri'), part.get('mimeType'), resource.get('mimeType')]) {
    if (v.text !== undefined && v.text !== '') words.push(oneLine(v.text))
  }
  words.push(size(part.raw.length))
  return words
}

/**
 * partsOfValue takes a tool's input or output apart into what a card shows one below the other:
 * {name?, text} is text, {json} a value, {diff} a change, {words} a thing that is named only.
 * @param {Value} v
 */
export function partsOfValue(v) {
  switch (v.kind) {
    case '': return []
    case 'string': {
      const inner = v.text
      if (/^\s*[{[]/.test(inner)) {
        const value = read(inner)
        if (value.present) return partsOfValue(value)
      }
      return [{ text: inner }]
    }
    case 'object': return v.list().map((m) => ({ name: m.name, ...memberPart(m) }))
    case 'array': return contentsOf(v) ?? [{ json: v.raw }]
  }
  return [{ text: v.raw }]
}

function memberPart(m) {
  if (m.text !== undefined) return { text: m.text }
  return m.kind === 'object' || m.kind === 'array' ? { json: m.raw } : { text: m.raw }
}

// contentsOf reads the content list of a tool's output; undefined if it is another kind of list.
function contentsOf(list) {
  const parts = []
  for (const c of list.children()) {
    const block = c.get('type').is('content') ? c.get('content') : c
    if (block.get('type').is('text') && block.get('text').text !== undefined) parts.push({ text: block.get('text').text })
    else if (c.get('type').is('diff')) parts.push({ diff: c })
    else if (block.get('type').kind === 'string') parts.push({ words: attachmentWords(block) })
    else return undefined
  }
  return parts.length > 0 ? parts : undefined
}

/** isGiven: neither absent nor null nor without members. */
export function isGiven(v) { return v.given && !/^(""|\{\s*\}|\[\s*\])$/.test(v.raw) }
