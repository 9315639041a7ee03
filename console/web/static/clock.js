// The replay's clock: played time beside the time that passed. Where nothing happens for long, played time is short;
// where all happened at once, as in recordings that were written by hand, it is spread.

const idle = 2000 // ms that are left of a longer pause
const spread = 400 // ms between two moments of a recording that has no times of its own

export class Clock {
  /** @param {number[]} moments ms since the beginning, ascending @param {boolean} skip leave out long pauses */
  constructor(moments, skip) {
    this.real = [0]
    this.played = [0]
    const end = moments.at(-1) ?? 0
    const flat = moments.length > 3 && end / moments.length < 20 && end < 2000
    for (const t of moments) {
      const gap = t - this.real.at(-1)
      if (gap <= 0) continue
      this.real.push(t)
      this.played.push(this.played.at(-1) + (flat ? spread : skip ? Math.min(gap, idle) : gap))
    }
  }

  get end() { return this.played.at(-1) }

  /** toReal is the time that had passed at a played time. */
  toReal(p) { return between(this.played, this.real, p) }

  /** toPlayed is the played time at which this time had passed. */
  toPlayed(t) { return between(this.real, this.played, t) }
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
