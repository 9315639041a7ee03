// A list of any length of which only what is near the view is in the document. Heights are guessed until they are
// measured; what the reader looks at stays where it is, whatever changes above it.

const near = 700 // px around the view that are in the document as well
const bottom = 24 // px from the end that still count as being there

export class Window {
  /**
   * @param {HTMLElement} scroller that scrolls
   * @param {HTMLElement} sheet that holds the rows
   * @param {{items: () => object[], count: () => number, shown: (item: object) => boolean, guess: (item: object, width: number) => number,
   *          make: (item: object, index: number) => HTMLElement, update: (row: HTMLElement, item: object, index: number) => void,
   *          scrolled: () => void}} view
   */
  constructor(scroller, sheet, view) {
    this.scroller = scroller
    this.sheet = sheet
    this.view = view
    this.tops = new Float64Array(1024)
    this.known = 0 // indexes up to which tops are right
    this.count = 0
    this.rows = new Map() // item → row
    this.follow = false
    this.anchor = null // {item, offset}: what stands at the top of the view
    this.expected = -1 // scrollTop that was set here
    this.asked = 0
    this.width = 0
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true })
    this.resizes = new ResizeObserver(() => this.frame())
    this.resizes.observe(scroller)
  }

  close() {
    this.resizes.disconnect()
    cancelAnimationFrame(this.asked)
    this.closed = true
  }

  /** changed says that items from an index on are others, or may have other heights. */
  changed(from = 0) {
    this.known = Math.min(this.known, from)
    this.ask()
  }

  ask() {
    if (this.asked === 0 && !this.closed) {
      this.asked = requestAnimationFrame(() => {
        this.asked = 0
        this.frame()
      })
    }
  }

  onScroll() {
    const top = this.scroller.scrollTop
    if (Math.abs(top - this.expected) < 2) return
    this.expected = -1
    this.follow = this.atEnd()
    this.settle(top)
    this.view.scrolled()
    this.ask()
  }

  atEnd() {
    const s = this.scroller
    return s.scrollHeight - s.scrollTop - s.clientHeight < bottom
  }

  // settle takes what is at the top of the view as what is to stay there.
  settle(top) {
    const items = this.view.items()
    const y = top - this.sheet.offsetTop
    let i = this.at(Math.max(0, y))
    while (i < this.count - 1 && this.heightOf(items[i]) === 0) i++
    this.anchor = i < this.count ? { item: items[i], offset: y - this.tops[i] } : null
  }

  /** toItem brings an item into the view. */
  toItem(item, where = 0.3) {
    const i = this.view.items().indexOf(item)
    if (i < 0) return
    this.follow = false
    this.anchor = { item, offset: -Math.floor(this.scroller.clientHeight * where) }
    this.pinned = true
    this.frame()
  }

  /** show brings an item into the view if it is not there. */
  reveal(item) {
    const row = this.rows.get(item)
    if (row !== undefined) {
      const r = row.getBoundingClientRect()
      const s = this.scroller.getBoundingClientRect()
      if (r.top >= s.top + 8 && (r.bottom <= s.bottom - 8 || r.top <= s.top + s.height / 2)) return
    }
    this.toItem(item, 0.15)
  }

  toEnd() {
    this.follow = true
    this.frame()
  }

  toStart() {
    this.follow = false
    this.anchor = null
    this.scroller.scrollTop = 0
    this.expected = -1
    this.settle(0)
    this.frame()
  }

  heightOf(item) { return this.view.shown(item) ? item.height || this.view.guess(item, this.width) : 0 }

  measureTops() {
    const items = this.view.items()
    const count = this.count = Math.min(this.view.count(), items.length)
    if (this.tops.length < count + 1) {
      const more = new Float64Array(Math.max(count + 1, this.tops.length * 2))
      more.set(this.tops)
      this.tops = more
    }
    let i = Math.min(this.known, count)
    let top = i === 0 ? 0 : this.tops[i]
    if (i === 0) this.tops[0] = 0
    for (; i < count; i++) {
      top += this.heightOf(items[i])
      this.tops[i + 1] = top
    }
    this.known = count
  }

  // at is the index of the item at a height.
  at(y) {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.tops[middle + 1] <= y) low = middle + 1
      else high = middle
    }
    return Math.min(low, Math.max(0, this.count - 1))
  }

  /** frame brings the document in step with the items. */
  frame() {
    if (this.closed || this.inFrame) return
    this.inFrame = true
    try {
      const width = this.sheet.clientWidth
      if (width !== this.width && width > 0) {
        this.width = width
        for (const item of this.view.items()) item.height = 0
        this.known = 0
      }
      for (let turn = 0; turn < 4; turn++) {
        this.measureTops()
        this.scroll()
        this.fill()
        if (!this.measure()) break
      }
      this.scroll()
    } finally {
      this.inFrame = false
    }
  }

  // scroll puts the view where it is to be.
  scroll() {
    const s = this.scroller
    const total = this.tops[this.count]
    if (this.total !== total) {
      this.total = total
      this.pad()
    }
    let top = s.scrollTop
    if (this.follow) top = Math.max(0, this.sheet.offsetTop + total + this.below() - s.clientHeight)
    else if (this.anchor !== null) {
      const i = this.indexOf(this.anchor.item)
      if (i >= 0) top = this.tops[i] + this.anchor.offset + this.sheet.offsetTop
      else this.anchor = null
    }
    top = Math.max(0, Math.round(top))
    if (Math.abs(top - s.scrollTop) >= 1) {
      s.scrollTop = top
      this.expected = s.scrollTop
    }
  }

  below() { return this.scroller.scrollHeight - this.sheet.offsetTop - this.sheet.offsetHeight }

  indexOf(item) {
    const i = this.view.indexOf?.(item) ?? this.view.items().indexOf(item)
    return i < this.count ? i : -1
  }

  fill() {
    const items = this.view.items()
    const s = this.scroller
    const y = s.scrollTop - this.sheet.offsetTop
    const from = this.count === 0 ? 0 : this.at(Math.max(0, y - near))
    let to = from
    const want = []
    for (const end = y + s.clientHeight + near; to < this.count && this.tops[to] < end; to++) {
      if (this.view.shown(items[to])) want.push(to)
    }
    const keep = new Set()
    for (const i of want) keep.add(items[i])
    for (const [item, row] of this.rows) {
      if (keep.has(item)) continue
      this.resizes.unobserve(row)
      row.remove()
      this.rows.delete(item)
    }
    let next = this.sheet.firstElementChild
    for (const i of want) {
      const item = items[i]
      let row = this.rows.get(item)
      if (row === undefined) {
        row = this.view.make(item, i)
        this.rows.set(item, row)
        this.sheet.insertBefore(row, next)
        this.resizes.observe(row)
      } else {
        this.view.update(row, item, i)
        if (row !== next) this.sheet.insertBefore(row, next)
        else next = next.nextElementSibling
      }
    }
    this.from = want.length > 0 ? want[0] : 0
    this.to = want.length > 0 ? want[want.length - 1] + 1 : 0
    this.pad()
  }

  pad() {
    const style = this.sheet.style
    const above = Math.round(this.tops[this.from ?? 0] ?? 0) + 'px'
    const under = Math.max(0, Math.round(this.tops[this.count] - (this.tops[this.to ?? 0] ?? 0))) + 'px'
    if (style.paddingTop !== above) style.paddingTop = above
    if (style.paddingBottom !== under) style.paddingBottom = under
  }

  // measure takes over the heights of the rows that are there, and reports whether any was another.
  measure() {
    let changed = false
    const items = this.view.items()
    for (let i = this.from; i < this.to; i++) {
      const row = this.rows.get(items[i])
      if (row === undefined) continue
      const height = row.getBoundingClientRect().height
      if (Math.abs(height - items[i].height) < 0.5) continue
      const before = items[i].height
      items[i].height = height
      if (before !== height) {
        this.known = Math.min(this.known, i)
        changed = true
      }
    }
    return changed
  }
}
