// Patches as git writes them: which lines of which file go and come, with those around them.

/**
 * patchOf reads a patch by the file that each part leads to; of a deleted file, by that. What it does not know it
 * passes over.
 * @param {string} text
 * @returns {Map<string, {removed: number, added: number, hunks: {mark: string, text: string, before: number, after: number}[][]}>}
 */
export function patchOf(text) {
  const files = new Map()
  let from = ''
  let file = null
  let hunk = null
  let before = 0
  let after = 0
  let old = 0 // lines of either side that the present hunk still has
  let next = 0
  for (const line of text.split('\n')) {
    const mark = line === '' ? ' ' : line[0]
    if (old > 0 && mark === '-') {
      old--
      file.removed++
      hunk.push({ mark, text: line.slice(1), before: before++, after: 0 })
    } else if (next > 0 && mark === '+') {
      next--
      file.added++
      hunk.push({ mark, text: line.slice(1), before: 0, after: after++ })
    } else if (old > 0 && next > 0 && mark === ' ') {
      old--
      next--
      hunk.push({ mark, text: line.slice(1), before: before++, after: after++ })
    } else if (line.startsWith('diff --git ')) {
      from = ''
      file = null
      old = next = 0
    } else if (line.startsWith('--- ')) from = pathOf(line.slice(4))
    else if (line.startsWith('+++ ')) {
      let path = pathOf(line.slice(4))
      if (path === '/dev/null') path = from
      file = files.get(path) ?? { removed: 0, added: 0, hunks: [] }
      files.set(path, file)
    } else if (file !== null) {
      const at = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
      if (at === null) continue
      before = Number(at[1])
      after = Number(at[3])
      old = Number(at[2] ?? 1)
      next = Number(at[4] ?? 1)
      file.hunks.push(hunk = [])
    }
  }
  return files
}

// pathOf reads a path as it stands in a patch: quoted, with its bytes in octal, where there are unusual characters in it.
function pathOf(s) {
  s = s.replace(/\t.*$/, '')
  if (!/^".*"$/.test(s)) return s
  const bytes = []
  const plain = { __proto__: null, n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 }
  for (const [all, octal, letter] of s.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(parseInt(octal, 8))
    else if (letter !== undefined) bytes.push(plain[letter] ?? letter.charCodeAt(0))
    else for (const b of new TextEncoder().encode(all)) bytes.push(b) // as arguments they may be too many
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
