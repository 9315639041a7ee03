// What the server is asked: pages of the list, of hits, of events and frames; and what it is told. The live stream is in
// stream.js.

/** Fault is an answer that is an error, or none at all: code is the API's, or 'unreachable'. */
export class Fault extends Error {
  constructor(code, message, status = 0) {
    super(message)
    this.code = code
    this.status = status
  }

  /** passes: the server may answer in a moment. */
  get passes() { return this.code === 'unreachable' || this.status === 503 }
}

/** text asks for a path and gives the answer's text. @param {AbortSignal} [signal] */
export async function text(path, signal) {
  const r = await ask(path, signal)
  return r.text()
}

/** json is text, parsed. */
export async function json(path, signal) {
  return JSON.parse(await text(path, signal))
}

const answered = 30_000 // ms within which what is sent has its answer: the server takes 20 s at most

/** post sends a value in the name that a token has, and gives the answer, parsed. */
export async function post(path, token, value) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(token)) // a header has no other characters
  const r = await ask(path, AbortSignal.timeout(answered), {
    method: 'POST', headers: { Authorization: 'Bearer ' + bytes, 'Content-Type': 'application/json' }, body: JSON.stringify(value),
  })
  try {
    return await r.json()
  } catch {
    throw new Fault('unreachable', 'The answer was cut.')
  }
}

/** ask asks for a path; an answer that is an error is thrown as a Fault. @param {RequestInit} [how] more than that it reads */
export async function ask(path, signal, how) {
  let r
  try {
    r = await fetch(path, { signal, cache: 'no-store', credentials: 'same-origin', ...how })
  } catch (e) {
    if (e.name === 'AbortError') throw e
    throw new Fault('unreachable', 'The server does not answer.')
  }
  if (r.ok) return r
  let code = 'unknown'
  let message = 'The server answered ' + r.status + '.'
  try {
    const body = await r.json()
    code = body.error.code
    message = body.error.message
  } catch {
    // not the API's own answer: a proxy's, perhaps
  }
  throw new Fault(code, message, r.status)
}

/** of is where what belongs to a transcript stands. @param {string} key */
export function of(key) { return '/v1/transcripts/' + key }

/** query writes parameters, leaving out what is empty. @param {Record<string, string|string[]|number|undefined>} parameters */
export function query(parameters) {
  const q = new URLSearchParams()
  for (const name in parameters) {
    for (const v of [parameters[name]].flat()) if (v !== undefined && v !== '' && v !== null) q.append(name, String(v))
  }
  const s = q.toString()
  return s === '' ? '' : '?' + s
}

/** pause waits; it ends with an AbortError when the signal says so. */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const t = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(t)
      reject(new DOMException('aborted', 'AbortError'))
    }, { once: true })
  })
}
