// A list of any length of which only what is near the view is in the document. Heights are guessed until they are
// measured; what the reader looks at stays where it is, whatever changes above it.

import { Heights } from './heights.js'
import { Scale } from './scale.js'

const near = 500 // px around the view that are in the document as well
const atOnce = 5 // new rows outside the view that are made in one frame
const least = 2 // new rows that a frame makes, however little time there is: what the reader looks at, and one beside it
const making = 8 // ms of a frame in which rows are made; laying them out takes as long again
const onPaper = 3000 // rows of a list that is printed whole
const held = 200 // rows at most that stay in the document since the reader holds them
const far = 1e6 // px above the list at most at which a row stands that is held
const bottom = 24 // px from the end that still count as being there

export class Window {
  /**
   * @param {HTMLElement} scroller that scrolls
   * @param {HTMLElement} sheet that holds the rows
   * @param {{items: () => object[], count: () => number, indexOf: (item: object) => number, shown: (item: object) => boolean, guess: (item: object, width: number) => number,
   *          make: (item: object, index: number) => HTMLElement, update: (row: HTMLElement, item: object, index: number) => void,
   *          scrolled: () => void}} view
   * @param {Scale} [scale]
   */
  constructor(scroller, sheet, view, scale = new Scale()) {
    this.scroller = scroller
    this.sheet = sheet
    this.view = view
    this.heights = new Heights()
    this.known = 0 // indexes up to which heights and places are those of the items
    this.places = [] // how many items are shown up to each one
    this.count = 0
    this.rows = new Map() // item → row
    this.follow = false
    this.anchor = null // {item, offset}: what stands at the top of the view
    this.top = 0 // where the view begins
    this.scale = scale // where that is for the browser
    this.expected = NaN // scrollTop that was set here
    this.areOthers = false // all items are others than they were: no row in sight waits
    this.isShort = false // rows are missing in sight: the frame's time was over
    this.sizes = true // are to be read again
    this.high = this.offset = this.below = 0
    this.from = this.to = 0 // the rows that are there
    this.asked = 0
    this.width = 0
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true })
    this.resizes = new ResizeObserver((entries) => {
      const isWider = sheet.clientWidth !== this.width
      const isHigher = scroller.clientHeight !== this.high
      if (isWider || isHigher) this.sizes = true
      if (isWider || isHigher && this.follow || entries.some((e) => this.isOther(e))) this.frame()
      else if (isHigher) this.ask() // nothing moves by that
    })
    this.resizes.observe(scroller)
  }

  // isOther reports whether a row is not as high any more as it was when it was measured.
  isOther(e) { return this.rows.get(e.target.item) === e.target && Math.abs(e.borderBoxSize[0].blockSize - e.target.item.height) >= 0.5 }

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

  /** swapped says that all items are others: the rows in sight are replaced in one frame, so that none goes missing. */
  swapped() {
    this.areOthers = this.rows.size > 0
    this.changed(0)
  }

  ask() {
    if (this.asked === 0 && !this.closed) {
      this.asked = requestAnimationFrame(() => {
        this.asked = 0
        if (this.scale.less > 0 && Math.abs(this.scroller.scrollTop - this.scale.at) >= 1) this.onScroll() // no step is lost where the scale changes
        this.frame()
      })
    }
  }

  onScroll() {
    const s = this.scroller
    const was = this.top
    const at = s.scrollTop
    const own = Math.abs(at - this.expected) < 2
    this.expected = NaN
    const top = this.top = this.scale.moved(at)
    if (own) return
    // Upwards leads away from the end, however short the step is, unless the end itself came nearer.
    if (top > was) this.follow ||= this.atEnd()
    else if (top < was && s.scrollHeight - s.clientHeight - at > 1) this.follow = false
    this.settle(top)
    this.view.scrolled()
    this.ask()
  }

  /** atEnd reports whether the end of what is there is in the view. */
  atEnd() { return this.most - this.top < bottom }

  // most is where the view begins that shows the end.
  get most() { return Math.max(0, this.offset + this.heights.total + this.below - this.high) }

  // settle takes what is at the top of the view as what is to stay there.
  settle(top) {
    const items = this.view.items()
    const y = top - this.offset
    const i = this.heights.at(Math.max(0, y))
    this.anchor = i < this.count ? { item: items[i], offset: y - this.heights.top(i) } : null
  }

  /** toItem brings an item into the view. */
  toItem(item, where = 0.3) {
    if (this.view.indexOf(item) < 0) return
    this.follow = false
    this.anchor = { item, offset: -Math.floor(this.high * where) }
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
    this.top = 0
    this.frame()
    this.settle(0)
  }

  heightOf(item) {
    if (!this.view.shown(item)) return 0
    return item.height || (item.guess ||= this.view.guess(item, this.width))
  }

  // arrange takes over the items that are others than they were.
  arrange() {
    const items = this.view.items()
    const count = this.count = Math.min(this.view.count(), items.length)
    const from = Math.min(this.known, count)
    if (from < count || this.heights.count !== count) {
      this.heights.resize(count, from)
      this.places.length = from
      for (let i = from, n = from > 0 ? this.places[from - 1] : 0; i < count; i++) {
        this.heights.set(i, this.heightOf(items[i]))
        if (this.view.shown(items[i])) n++
        this.places.push(n)
      }
      this.heights.settle(from)
    } else this.heights.settle()
    this.known = count
  }

  /** placeOf is which of those that are shown an item is, from 1. @param {number} index */
  placeOf(index) { return this.places[index] }

  /** whole puts all rows into the document, for paper, where they are not too many. */
  whole(on) {
    this.isWhole = on && this.count <= onPaper
    this.frame()
  }

  /** frame brings the document in step with the items: one layout, where heights are as they were guessed. */
  frame() {
    if (this.closed || this.inFrame) return
    this.inFrame = true
    try {
      this.resized()
      this.left = this.isWhole ? Infinity : atOnce
      this.made = 0
      for (let turn = 0; turn < 5; turn++) {
        this.arrange()
        if (turn === 0) this.due = this.isWhole ? Infinity : performance.now() + making // to arrange all may take longer
        this.fill(this.wanted())
        if (!this.measure()) break
      }
      this.arrange()
      const top = this.wanted()
      const at = this.scale.stand(top, this.most, this.high)
      this.pad()
      this.scrollTo(at)
    } finally {
      this.areOthers = false
      this.inFrame = false
    }
  }

  // resized reads the sizes that change with the window only.
  resized() {
    if (!this.sizes) return
    this.sizes = false
    const s = this.scroller
    this.high = s.clientHeight
    this.offset = this.sheet.offsetTop
    this.below = parseFloat(getComputedStyle(s).paddingBottom) || 0
    const width = this.sheet.clientWidth
    if (width === this.width || width === 0) return
    this.width = width
    for (const item of this.view.items()) item.height = item.guess = 0
    this.known = 0
  }

  // wanted is the scrollTop that keeps what is to stay.
  wanted() {
    const { most } = this
    if (this.follow) return Math.ceil(most)
    if (this.anchor === null) return this.top
    const i = this.indexOf(this.anchor.item)
    if (i < 0) {
      this.anchor = null
      return this.top
    }
    return Math.min(Math.ceil(most), Math.max(0, Math.round(this.heights.top(i) + this.anchor.offset + this.offset)))
  }

  scrollTo(at) {
    if (Math.abs(at - this.scale.at) >= 1) {
      this.scroller.scrollTop = at
      this.scale.at = this.expected = this.scroller.scrollTop
    }
    this.top = this.scale.top
  }

  indexOf(item) {
    const i = this.view.indexOf(item)
    return i < this.count ? i : -1
  }

  fill(top) {
    const items = this.view.items()
    const [first, end] = this.range(top, items)
    const want = []
    for (let i = first; i < end; i++) if (this.view.shown(items[i])) want.push(i)
    this.from = want.length > 0 ? want[0] : 0
    this.to = want.length > 0 ? want[want.length - 1] + 1 : 0
    const keep = new Set()
    for (const i of want) keep.add(items[i])
    // Rows go last, when others and the padding stand for them: were the sheet shorter for a moment in which the browser
    // looks at it, it would take the scroll position back to what is left.
    const doomed = new Map()
    let more = 0 // that are held
    for (const [item, row] of this.rows) {
      if (keep.has(item)) continue
      const i = this.indexOf(item)
      if (i >= 0 && more < held && this.view.shown(item) && isHeld(row)) {
        want.push(i)
        more++
        continue
      }
      doomed.set(row, item)
    }
    want.sort((a, b) => a - b)
    let next = this.sheet.firstElementChild
    for (const i of want) {
      while (doomed.has(next)) next = next.nextElementSibling
      const row = this.rows.get(items[i])
      if (row.parentNode !== null) this.view.update(row, items[i], i)
      if (row !== next) this.sheet.insertBefore(row, next)
      else next = next.nextElementSibling
      this.lift(row, i < this.from || i >= this.to ? i : -1)
    }
    this.scale.stand(top, this.most, this.high)
    this.pad()
    for (const [row, item] of doomed) {
      this.resizes.unobserve(row)
      row.remove()
      this.rows.delete(item)
    }
  }

  lacks(isShort) {
    if (this.isShort !== isShort) this.sheet.toggleAttribute('data-short', this.isShort = isShort)
  }

  // there reports whether an item's row is there, or is made while the frame has time for it.
  there(item, i, due = this.due) {
    if (!this.view.shown(item) || this.rows.has(item)) return true
    if (this.made >= least && performance.now() > due) return false
    this.make(item, i)
    return true
  }

  make(item, i) {
    const row = this.view.make(item, i)
    row.item = item
    this.made++
    this.rows.set(item, row)
    this.resizes.observe(row)
  }

  // range are the indexes of the items whose rows are there: those in sight, as many as one frame has the time for, from
  // where the reader looks outwards; then some of those around them.
  range(top, items) {
    const y = top - this.offset
    const around = this.isWhole ? Infinity : near
    const upTo = (i, end) => {
      for (let t = this.heights.top(i); i < this.count && t < end; t += this.heights.all[i++]);
      return i
    }
    const from = this.heights.at(Math.max(0, y))
    const to = upTo(from, y + this.high)
    if (to <= from) {
      this.lacks(false)
      return [0, 0]
    }
    const anchor = this.follow ? to - 1 : this.anchor === null ? from : this.indexOf(this.anchor.item)
    let first = Math.min(to - 1, Math.max(from, anchor))
    let end = first
    if (!this.there(items[end], end)) this.make(items[end], end)
    const due = this.areOthers ? Infinity : this.due
    while (end < to && this.there(items[end], end, due)) end++
    while (first > from && this.there(items[first - 1], first - 1, due)) first--
    this.lacks(end < to || first > from)
    if (this.isShort) {
      this.ask()
      return [first, end]
    }
    const furthest = upTo(to, y + this.high + around)
    const earliest = this.heights.at(Math.max(0, y - around))
    const more = (i) => {
      const before = this.made
      if (!this.rows.has(items[i]) && this.view.shown(items[i]) && this.left <= 0 || !this.there(items[i], i)) return false
      this.left -= this.made - before
      return true
    }
    while (end < furthest && more(end)) end++
    while (first > earliest && more(first - 1)) first--
    if (end < furthest || first > earliest) this.ask()
    return [first, end]
  }

  // lift has a row that is held stand where it would, outside of those that are near; -1 puts it back among them.
  lift(row, index) {
    if (index < 0 && row.lifted === undefined) return
    row.lifted = index < 0 ? undefined : index
    row.toggleAttribute('data-lifted', index >= 0)
    if (index < 0) row.style.top = ''
  }

  // pad stands for the rows that are not there.
  pad() {
    const style = this.sheet.style
    const { shift } = this.scale
    const start = this.heights.top(this.from)
    const end = this.heights.top(this.to)
    const above = Math.max(0, Math.round(start - shift)) + 'px'
    const under = Math.max(0, Math.round(this.heights.total - end - this.scale.less + shift)) + 'px'
    if (this.above !== above) style.paddingTop = this.above = above
    if (this.under !== under) style.paddingBottom = this.under = under
    for (const [item, row] of this.rows) {
      if (row.lifted === undefined) continue
      const top = Math.min(this.heights.top(row.lifted) - shift, this.heights.total - this.scale.less - item.height)
      row.style.top = Math.max(-far, Math.round(top)) + 'px'
    }
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
      items[i].height = height
      this.heights.set(i, height)
      changed = true
    }
    return changed
  }
}

// isHeld reports whether the focus or what is selected is in a row.
function isHeld(row) {
  if (row.contains(document.activeElement)) return true
  const chosen = getSelection()
  return !chosen.isCollapsed && chosen.containsNode(row, true)
}
