// A list may be higher than anything that a browser lays out, or can tell the parts of. What it scrolls is then shorter:
// short steps are as long as they look, and a leap leads to where the list is as far as the scroll bar.

const highest = 8_000_000 // px that the browser is given at most: more it knows only roughly, or not at all
const edge = 200_000 // px at both ends in which places are what they are

export class Scale {
  /** @param {number} [most] px that the browser is given at most */
  constructor(most = highest) {
    this.limit = most
    this.edge = Math.min(edge, most / 8)
    this.at = 0 // the browser's scrollTop
    this.shift = 0 // how much further the view is in the list
    this.less = 0 // how much shorter the list is for the browser
    this.end = 0 // where the view stands at the list's end
    this.leap = 0 // px of one step from which on it is none
  }

  /** top is where in the list the view begins. */
  get top() { return this.at + this.shift }

  /** moved takes a scrollTop of the reader's, and gives where in the list the view begins. */
  moved(at) {
    const step = Math.abs(at - this.at)
    this.at = at
    if (this.less > 0 && step > this.leap) this.shift = this.placeAt(at) - at
    return this.top
  }

  /**
   * stand has the view begin at a place in the list, and gives the scrollTop for that.
   * @param {number} top the place @param {number} end the last one there is @param {number} high the view's height
   */
  stand(top, end, high) {
    this.end = end
    this.less = Math.max(0, end + high - this.limit)
    this.leap = 4 * high
    const room = end - this.less // the last scrollTop
    let at = top - this.shift
    if (this.less === 0) at = top
    else if (top < this.edge || end - top < this.edge || at < this.edge || room - at < this.edge) at = this.scrollFor(top)
    this.shift = top - at
    return at
  }

  // scrollFor is the scrollTop that a place in the list has by itself.
  scrollFor(top) {
    const { edge } = this
    if (top <= edge) return top
    if (this.end - top <= edge) return top - this.less
    return edge + (top - edge) * (this.end - this.less - 2 * edge) / (this.end - 2 * edge)
  }

  // placeAt is scrollFor the other way round.
  placeAt(at) {
    const { edge } = this
    if (at <= edge) return at
    if (this.end - this.less - at <= edge) return at + this.less
    return edge + (at - edge) * (this.end - 2 * edge) / (this.end - this.less - 2 * edge)
  }
}
