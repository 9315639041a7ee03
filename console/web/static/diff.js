// Which lines of a file go and which come, with those around them.

const most = 2000 // steps of the search for the shortest way; beyond, all goes and all comes
const around = 3 // lines before and behind a change

/**
 * diff compares two texts by lines.
 * @param {string|null} before null: there was no file
 * @returns {{removed: number, added: number, hunks: {mark: string, text: string, before: number, after: number}[][]}}
 */
export function diff(before, after) {
  const a = linesOf(before ?? '')
  const b = linesOf(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const steps = shortest(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  const all = []
  let i = 0
  let j = 0
  const step = (mark) => {
    all.push({ mark, text: mark === '+' ? b[j] : a[i], before: mark === '+' ? 0 : i + 1, after: mark === '-' ? 0 : j + 1 })
    if (mark !== '+') i++
    if (mark !== '-') j++
  }
  for (let n = Math.max(0, head - around); i < n; i++) j++
  while (i < head) step(' ')
  for (const mark of steps) step(mark)
  for (let n = 0; n < Math.min(around, tail); n++) step(' ')
  return { removed: steps.filter((m) => m === '-').length, added: steps.filter((m) => m === '+').length, hunks: hunksOf(all) }
}

// hunksOf leaves out what is far from any change.
function hunksOf(all) {
  const hunks = []
  let hunk = null
  let last = -Infinity
  for (let n = 0; n < all.length; n++) {
    let nearest = Infinity
    for (let m = n; m < Math.min(all.length, n + around + 1); m++) {
      if (all[m].mark !== ' ') {
        nearest = m - n
        break
      }
    }
    if (all[n].mark !== ' ') last = n
    if (nearest > around && n - last > around) {
      hunk = null
      continue
    }
    if (hunk === null) hunks.push(hunk = [])
    hunk.push(all[n])
  }
  return hunks
}

// shortest is the shortest way from a to b, after E. W. Myers: a mark for each line.
function shortest(a, b) {
  const n = a.length
  const m = b.length
  if (n === 0 || m === 0) return [...Array(n).fill('-'), ...Array(m).fill('+')]
  const limit = Math.min(n + m, most)
  const size = 2 * limit + 1
  const v = new Int32Array(size + 2)
  const trace = []
  for (let d = 0; d <= limit; d++) {
    trace.push(v.slice(limit - d, limit + d + 2))
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || k !== d && v[limit + k - 1] < v[limit + k + 1] ? v[limit + k + 1] : v[limit + k - 1] + 1
      let y = x - k
      while (x < n && y < m && a[x] === b[y]) {
        x++
        y++
      }
      v[limit + k] = x
      if (x >= n && y >= m) return back(trace, n, m, d)
    }
    if (d * d > 4_000_000) break
  }
  return [...Array(n).fill('-'), ...Array(m).fill('+')]
}

function back(trace, x, y, d) {
  const marks = []
  for (; d > 0; d--) {
    const v = trace[d]
    const at = (k) => v[k + d]
    const k = x - y
    const down = k === -d || k !== d && at(k - 1) < at(k + 1)
    const from = down ? k + 1 : k - 1
    const fromX = at(from)
    const fromY = fromX - from
    while (x > fromX && y > fromY) {
      marks.push(' ')
      x--
      y--
    }
    marks.push(down ? '+' : '-')
    if (down) y--
    else x--
  }
  while (x > 0 && y > 0) {
    marks.push(' ')
    x--
    y--
  }
  return marks.reverse()
}

function linesOf(text) {
  if (text === '') return []
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
