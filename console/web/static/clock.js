// The replay's clock: played time beside the time that passed. Where nothing happens for long, played time is short;
// where all happened at once, as in recordings that were written by hand, it is spread.

const idle = 2000 // ms that are left of a longer pause
const spread = 400 // ms between two moments of a recording that has no times of its own

export class Clock {
  /** @param {ArrayLike<number>} moments ms since the beginning, ascending, each once @param {boolean} skip leave out long pauses */
  constructor(moments, skip) {
    const real = this.real = [0]
    const played = this.played = [0]
    const end = moments.length > 0 ? moments[moments.length - 1] : 0
    const flat = moments.length > 3 && end / moments.length < 20 && end < 2000
    for (let i = 0, before = 0, at = 0; i < moments.length; i++) {
      const gap = moments[i] - before
      if (gap <= 0) continue
      before = moments[i]
      at += flat ? spread : skip ? Math.min(gap, idle) : gap
      real.push(before)
      played.push(at)
    }
  }

  get end() { return this.played.at(-1) }

  /** toReal is the time that had passed at a played time. */
  toReal(p) { return between(this.played, this.real, p) }

  /** toPlayed is the played time at which this time had passed. */
  toPlayed(t) { return between(this.real, this.played, t) }
}

/** ascending brings moments into order, each once. @param {Float64Array} moments of which it makes use */
export function ascending(moments) {
  if (moments.some((t, i) => i > 0 && t < moments[i - 1])) moments.sort()
  let n = 0
  for (const t of moments) if (n === 0 || t > moments[n - 1]) moments[n++] = t
  return moments.subarray(0, n)
}

function between(from, to, x) {
  if (x <= 0) return 0
  let low = 0
  let high = from.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (from[middle] <= x) low = middle + 1
    else high = middle
  }
  const i = low - 1
  if (i >= from.length - 1) return to[i]
  return to[i] + (x - from[i]) / (from[i + 1] - from[i]) * (to[i + 1] - to[i])
}
