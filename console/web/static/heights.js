// The heights of a long list, and where each of its items stands. A height that changes costs a block, not the list.

const block = 256

export class Heights {
  constructor() {
    this.all = new Float32Array(1024)
    this.count = 0
    this.tops = [0] // of each block, and the end
    this.stale = 0 // first block whose sum is to be made again
    this.sums = []
  }

  /** resize takes the number of items, and forgets heights from an index on. */
  resize(count, from) {
    if (this.all.length < count) {
      const more = new Float32Array(Math.max(count, this.all.length * 2))
      more.set(this.all)
      this.all = more
    }
    this.count = count
    this.stale = Math.min(this.stale, Math.floor(from / block))
  }

  /** set takes an item's height. */
  set(i, height) {
    if (this.all[i] === height) return
    this.all[i] = height
    const b = Math.floor(i / block)
    this.sums[b] = undefined
    this.stale = Math.min(this.stale, b)
  }

  /** settle makes sums and tops right again. Blocks behind a change keep their sums, unless from says otherwise. */
  settle(from = Infinity) {
    const blocks = Math.ceil(this.count / block)
    const first = Math.floor(from / block)
    this.sums.length = Math.min(this.sums.length, blocks)
    for (let b = Math.min(this.stale, first); b < blocks; b++) {
      if (b >= first || this.sums[b] === undefined) {
        let sum = 0
        const end = Math.min(this.count, (b + 1) * block)
        for (let i = b * block; i < end; i++) sum += this.all[i]
        this.sums[b] = sum
      }
      this.tops[b + 1] = this.tops[b] + this.sums[b]
    }
    this.tops.length = blocks + 1
    this.stale = Infinity
  }

  get total() { return this.tops[this.tops.length - 1] }

  /** top is where an item begins; that of the count is the end. */
  top(i) {
    if (i >= this.count) return this.total
    const b = Math.floor(i / block)
    let top = this.tops[b]
    for (let n = b * block; n < i; n++) top += this.all[n]
    return top
  }

  /** at is the item at a height: one that has a height itself, if there is one. */
  at(y) {
    if (this.count === 0) return 0
    let low = 0
    let high = this.tops.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.tops[middle + 1] <= y) low = middle + 1
      else high = middle
    }
    let i = Math.min(low * block, this.count - 1)
    let top = this.tops[Math.min(low, this.tops.length - 2)]
    const end = Math.min(this.count - 1, i + block)
    while (i < end && top + this.all[i] <= y) top += this.all[i++]
    return i
  }
}
