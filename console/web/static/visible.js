// Characters that a reader would not see, or that would move what they read, are shown by their number: control
// characters, direction marks, tags, unassigned ones. Line feeds, tabs, and the joiners inside emoji and words stay.

const unseen = /\r(?!\n)|(?![\n\t\r\u200c\u200d])[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/gu
const suspicious = /[^\n\t\x20-\x7e]/

/**
 * visible gives the text itself where all of it can be seen, else its parts: seen, unseen, seen, …
 * @param {string} s
 * @returns {string|string[]}
 */
export function visible(s) {
  if (!suspicious.test(s)) return s
  const parts = []
  let from = 0
  unseen.lastIndex = 0
  for (const m of s.matchAll(unseen)) {
    parts.push(seen(s.slice(from, m.index)), name(m[0]))
    from = m.index + m[0].length
  }
  const rest = seen(s.slice(from))
  if (parts.length === 0) return rest
  parts.push(rest)
  return parts
}

function seen(s) {
  return s.includes('\r') ? s.replaceAll('\r\n', '\n') : s
}

function name(c) {
  const code = c.codePointAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return '⟨U+' + code.toString(16).toUpperCase().padStart(4, '0') + '⟩'
}

/** plain is visible text in one string, for places that hold nothing else, such as titles. */
export function plain(s) {
  const parts = visible(s)
  return typeof parts === 'string' ? parts : parts.join('')
}

/** oneLine is visible text on one line. */
export function oneLine(s) {
  return plain(s).trim().replace(/\s+/g, ' ')
}
