// A reader of JSON that keeps its text: the order of keys, keys that come twice, numbers of any size, escapes. It looks
// at as much as is asked for, and no depth of nesting is too much for it.

/** Value is a value inside a text. A value that is not there is absent: kind is ''. */
export class Value {
  /** @param {string} source @param {number} start @param {number} end @param {string|null} name */
  constructor(source, start, end, name = null) {
    this.source = source
    this.start = start
    this.end = end
    this.name = name
  }

  /** kind is object, array, string, number, true, false, null, or '' where there is none. */
  get kind() {
    if (this.start >= this.end) return ''
    switch (this.source[this.start]) {
      case '{': return 'object'
      case '[': return 'array'
      case '"': return 'string'
      case 't': return 'true'
      case 'f': return 'false'
      case 'n': return 'null'
    }
    return 'number'
  }

  /** raw is the value as it was sent. */
  get raw() { return this.source.slice(this.start, this.end) }

  get present() { return this.start < this.end }

  /** given: present, and not null. */
  get given() { return this.present && this.source[this.start] !== 'n' }

  /** text is a string's text; undefined for anything else. */
  get text() { return this.kind === 'string' ? unquote(this.raw) : undefined }

  /** get is a member of an object: of those with that name the last. */
  get(name) {
    let found = none
    if (this.kind === 'object') for (const m of this.children()) if (m.name === name) found = m
    return found
  }

  /** is reports whether it is this string. */
  is(text) { return this.kind === 'string' && this.text === text }

  /** children are an object's members or an array's entries, in order. */
  * children() {
    const kind = this.kind
    if (kind !== 'object' && kind !== 'array') return
    const s = this.source
    for (let i = space(s, this.start + 1); i < this.end - 1;) {
      let name = null
      if (kind === 'object') {
        const end = skip(s, i)
        name = unquote(s.slice(i, end))
        i = space(s, end)
        i = space(s, i + 1) // behind the colon
      }
      const end = skip(s, i)
      if (end <= i) return
      yield new Value(s, i, end, name)
      i = space(s, end)
      if (s[i] !== ',') return
      i = space(s, i + 1)
    }
  }

  /** list is children as an array. */
  list() { return [...this.children()] }
}

/** none is the value that is not there. */
export const none = new Value('', 0, 0)

/** read gives the value that a text is; none where it is no JSON. @param {string} text */
export function read(text) {
  try {
    JSON.parse(text)
  } catch (e) {
    if (!(e instanceof RangeError)) return none // too deep for the browser's own reader is not for this one
  }
  return trusted(text)
}

/** trusted is read for a text that is known to be JSON. */
export function trusted(text) {
  const start = space(text, 0)
  return new Value(text, start, skip(text, start))
}

function space(s, i) {
  for (; i < s.length; i++) {
    const c = s.charCodeAt(i)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) break
  }
  return i
}

// skip gives the end of the value that begins at i.
function skip(s, i) {
  const c = s[i]
  if (c === '"') return skipString(s, i)
  if (c === '{' || c === '[') {
    let depth = 0
    for (; i < s.length; i++) {
      switch (s.charCodeAt(i)) {
        case 34: i = skipString(s, i) - 1; break
        case 123: case 91: depth++; break
        case 125: case 93: if (--depth === 0) return i + 1
      }
    }
    return i
  }
  for (; i < s.length; i++) {
    const c = s.charCodeAt(i)
    if (c === 44 || c === 93 || c === 125 || c <= 32) break
  }
  return i
}

function skipString(s, i) {
  for (i = s.indexOf('"', i + 1); i >= 0; i = s.indexOf('"', i + 1)) {
    let back = i - 1
    while (s.charCodeAt(back) === 92) back--
    if ((i - back) % 2 === 1) return i + 1
  }
  return s.length
}

function unquote(raw) {
  if (!raw.includes('\\')) return raw.slice(1, -1)
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/**
 * elements cuts a page {"events":[…],…} into the texts of its entries, as they were sent, one after the other.
 * @param {string} text that is known to be JSON @param {string} name of the list
 * @param {object} rest gets what stands beside the list; it has all of it when the entries are over
 * @returns {Iterable<string>}
 */
export function* elements(text, name, rest) {
  for (let i = space(text, space(text, 0) + 1); text[i] === '"';) {
    let end = skipString(text, i)
    const member = unquote(text.slice(i, end))
    i = space(text, space(text, end) + 1) // behind the colon
    if (member === name && text[i] === '[') {
      for (i = space(text, i + 1); i < text.length && text[i] !== ']'; i = next(text, end)) {
        end = skip(text, i)
        yield text.slice(i, end)
      }
      end = i + 1
    } else {
      end = skip(text, i)
      rest[member] = JSON.parse(text.slice(i, end))
    }
    i = next(text, end)
  }
}

// next is where the value behind one begins that ends here, or the end of what both are in.
function next(s, end) {
  const i = space(s, end)
  return s[i] === ',' ? space(s, i + 1) : i
}

/** pretty spreads JSON over lines without changing a character of its values. */
export function pretty(text) {
  let out = ''
  let depth = 0
  const line = () => '\n' + '  '.repeat(Math.min(depth, 40))
  for (let i = space(text, 0); i < text.length;) {
    const c = text[i]
    if (c === '{' || c === '[') {
      const next = space(text, i + 1)
      if (text[next] === '}' || text[next] === ']') {
        out += c + text[next]
        i = space(text, next + 1)
        continue
      }
      depth++
      out += c + line()
      i++
    } else if (c === '}' || c === ']') {
      depth--
      out += line() + c
      i++
    } else if (c === ',') {
      out += c + line()
      i++
    } else if (c === ':') {
      out += ': '
      i++
    } else {
      const end = Math.max(skip(text, i), i + 1)
      out += text.slice(i, end)
      i = end
    }
    i = space(text, i)
  }
  return out
}

/** compact takes away white space that says nothing. */
export function compact(text) {
  let out = ''
  for (let i = space(text, 0); i < text.length; i = space(text, i)) {
    const end = text[i] === '"' ? skipString(text, i) : i + 1
    out += text.slice(i, end)
    i = end
  }
  return out
}
