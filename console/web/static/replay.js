// The replay: the page as it was at a moment, and the moment moving on. A scrubber over time, speed, steps, keys.

import { button, el, icon, setData } from './dom.js'
import { ascending, Clock } from './clock.js'
import { say } from './status.js'
import { inSlices } from './turns.js'
import { Typing, typing } from './typing.js'
import { clock } from './when.js'

const speeds = [0.5, 1, 2, 4, 8, 16]
const jump = 5000 // ms of played time
const few = 500 // items that are looked at in one step
const many = 5000 // numbers
const playing = 'M4 2.5v11l9.5-5.5z'
const paused = 'M4 2.5h3v11H4zM9 2.5h3v11H9z'

export class Replay {
  /** @param {Transcript} view */
  constructor(view) {
    this.view = view
    this.mode = 'off'
    this.speed = 1
    this.skip = true
    this.at = 0 // played ms
    this.waiting = [] // what is to be done once there is a clock
    this.before = null // where the reader was
    this.renewing = null // ends when the clock has been made anew
    this.drawn = 0 // counts what was begun to be drawn
    this.notBefore = 0 // when the marks may be made again, ms
    this.clock = new Clock([], true)
    this.abort = new AbortController()
    this.draw()
  }

  draw() {
    this.play = button('play', 'Play (Space)', () => this.toggle(), icon(playing))
    this.marks = el('canvas.marks', { 'aria-hidden': 'true' })
    this.scrubber = el('input', { id: 'scrubber', type: 'range', min: 0, max: 0, step: 1, value: 0, 'aria-label': 'Time in the transcript' })
    this.scrubber.addEventListener('input', () => this.to(Number(this.scrubber.value)))
    this.scrubber.addEventListener('keydown', (e) => {
      if (this.press(e)) {
        e.preventDefault()
        e.stopPropagation()
      }
    })
    this.time = el('span.times', { data: { time: true } })
    this.speedWords = el('span.speed', { data: { speed: 1 } }, '1×')
    this.skipButton = button('skip-idle', 'Leave out long pauses', () => this.setSkip(!this.skip), 'skip idle')
    this.skipButton.setAttribute('aria-pressed', 'true')
    this.leaveButton = button('leave', 'Leave the replay (Esc)', () => this.leave(), 'leave replay')
    this.liveButton = button('live', 'Go to what is said now (l)', () => this.live(), 'live')
    this.noteLine = el('span.aside')
    this.element = el('footer.replay', { 'aria-label': 'Replay', role: 'group', data: { replay: true, mode: 'off' } },
      this.play, el('div.track', null, this.marks, this.scrubber), this.time,
      el('span.speeds', { role: 'group', 'aria-label': 'Speed' }, button('slower', 'Slower ([)', () => this.faster(-1), '−'), this.speedWords, button('faster', 'Faster (])', () => this.faster(1), '+')),
      this.skipButton, this.leaveButton, this.liveButton, this.noteLine)
    this.resizes = new ResizeObserver(() => this.drawMarks())
    this.resizes.observe(this.marks)
    this.setMode('off')
  }

  setMode(mode) {
    this.mode = mode
    this.element.dataset.mode = mode
    document.body.dataset.mode = mode
    this.play.replaceChildren(icon(mode === 'playing' ? paused : playing))
    const label = mode === 'playing' ? 'Pause (Space)' : 'Play (Space)'
    this.play.setAttribute('aria-label', label)
    this.play.title = label
    this.leaveButton.hidden = mode === 'off'
    this.showLive()
  }

  showLive() { this.liveButton.hidden = !(this.view.model.summary?.status === 'open' && (this.mode !== 'off' || !this.view.window?.follow)) }

  /** changed: the transcript has more. */
  changed() {
    this.showLive()
    const { fold } = this.view
    if (this.isBuilt()) {
      if (this.mode === 'off') this.showReading()
      return
    }
    if (this.isOff && !this.view.model.complete || this.renewing !== null) return
    clearTimeout(this.rebuild)
    const now = performance.now()
    if (now < this.notBefore && this.builtFold === fold) {
      this.rebuild = setTimeout(() => this.changed(), this.notBefore - now)
      return
    }
    this.renewing = this.renew(now)
  }

  isBuilt() {
    const { fold, typing } = this.view
    return this.built === fold.version && this.builtFold === fold && Object.is(this.builtLast, fold.last) // NaN while nothing has a time
      && this.builtTyping === typing?.turn && this.builtSkip === this.skip
  }

  // isOff reports whether there is no replay, and none waits for its clock.
  get isOff() { return this.mode === 'off' && this.waiting.length === 0 }

  // renew builds anew, in slices. The clock before is that of the page meanwhile.
  async renew(now) {
    try {
      const took = await inSlices(this.building(), this.abort.signal)
      this.notBefore = now + Math.max(1000, took * 30)
    } catch (e) {
      if (e.name === 'AbortError') return
      throw e
    } finally {
      this.renewing = null
    }
    if (this.mode === 'off') this.showReading()
    else this.apply()
    if (this.hasClock && this.waiting.length > 0) this.begin()
    if (!this.isBuilt()) this.changed()
  }

  // soonest is changed, without a pause since the clock was made last.
  async soonest() {
    await this.renewing
    this.notBefore = 0
    this.changed()
  }

  // hasClock reports whether there is a clock of what is shown, if not of all of it.
  get hasClock() { return this.builtFold === this.view.fold }

  // building finds when each item began, and when anything happened, in steps.
  * building() {
    const { view, skip } = this
    const { fold } = view
    const turn = view.typing?.turn
    const { version, last, first } = { version: fold.version, last: fold.last, first: view.first }
    const all = fold.items
    const begins = new Float64Array(all.length)
    for (let i = 0, latest = 0; i < begins.length; i++) {
      if (i < all.length) latest = Math.max(latest, view.beginOf(all[i]) - first)
      begins[i] = latest
      if (i % few === few - 1) yield
    }
    const moments = yield* this.momentsOf(fold, first)
    yield
    this.built = version
    this.builtFold = fold
    this.builtLast = last
    this.builtTyping = turn
    this.builtSkip = skip
    const t = this.mode === 'off' ? null : this.clock.toReal(this.at)
    this.begins = begins
    this.clock = new Clock(moments, skip)
    if (t !== null) this.at = this.clock.toPlayed(t)
    this.scrubber.max = String(Math.ceil(this.clock.end))
    yield
    yield* this.drawing()
  }

  // momentsOf are the times at which anything happened, in ms since the first event.
  * momentsOf(fold, first) {
    const typed = this.view.typing?.pieces() ?? []
    const known = !Number.isNaN(fold.last)
    const moments = new Float64Array(fold.times.length + typed.length + (known ? 1 : 0))
    let n = 0
    const take = (at) => { if (n < moments.length) moments[n++] = at }
    for (const at of fold.times) {
      take(Math.max(0, at - first))
      if (n % many === 0) yield
    }
    for (const at of typed) {
      take(Math.round(at))
      if (n % many === 0) yield
    }
    if (known) take(Math.max(0, fold.last - first))
    return ascending(moments.subarray(0, n))
  }

  // reading is showReading, in a moment.
  reading() {
    if (this.soon) return
    this.soon = setTimeout(() => {
      this.soon = 0
      this.showReading()
    }, 120)
  }

  // showReading says where in time the reader is.
  showReading() {
    const w = this.view.window
    if (!this.begins || this.mode !== 'off') return
    const i = w.follow ? this.begins.length - 1 : this.view.fold.index(w.anchor?.item ?? {})
    const t = w.follow ? this.clock.toReal(this.clock.end) : i >= 0 ? this.begins[i] : 0
    this.at = this.clock.toPlayed(t)
    this.showTime(t)
  }

  showTime(t) {
    const end = this.clock.toReal(this.clock.end)
    if (document.activeElement !== this.scrubber || Number(this.scrubber.value) !== Math.round(this.at)) this.scrubber.value = String(Math.round(this.at))
    const words = clock(t) + ' / ' + clock(end)
    if (this.time.textContent !== words) this.time.textContent = words
    this.time.dataset.ms = Math.round(t)
    this.scrubber.setAttribute('aria-valuetext', clock(t) + ' of ' + clock(end))
    this.scrubber.style.setProperty('--at', this.clock.end > 0 ? (this.at / this.clock.end * 100).toFixed(2) + '%' : '0%')
  }

  // enter begins a replay where the reader is, and then does something: at once where there is a clock.
  enter(then) {
    if (this.mode !== 'off') return then()
    this.waiting.push(then)
    if (this.hasClock) this.begin()
    else this.changed()
  }

  begin() {
    const w = this.view.window
    this.before = { anchor: w.anchor, follow: w.follow }
    this.setMode('paused')
    for (const then of this.waiting.splice(0)) then()
    if (!this.asking && !this.view.knowsTyping()) this.readTyping()
    this.soonest()
  }

  async readTyping() {
    this.asking = true
    try {
      const { view } = this
      const now = { seen: view.model.seen, last: view.fold.last }
      view.typing = (view.typing ?? new Typing()).with(await typing(view.key, view.typingTo.seen, this.abort.signal))
      view.typingTo = now
      this.noteLine.textContent = ''
      if (this.mode !== 'off') await this.soonest()
    } catch (e) {
      if (e.name !== 'AbortError') this.noteLine.textContent = 'typing is guessed'
      this.noteLine.title = 'When each piece of text came cannot be read: ' + e.message
    }
    this.asking = false
  }

  /** to goes to a played time. */
  to(p) { this.enter(() => this.go(p)) }

  // by goes so many ms of played time on.
  by(ms) { this.enter(() => this.go(this.at + ms)) }

  go(p) {
    this.at = Math.min(Math.max(0, p), this.clock.end)
    this.view.window.follow = true
    this.apply()
  }

  apply() {
    const { view } = this
    const t = this.clock.toReal(this.at)
    view.until = this.at >= this.clock.end ? view.first + t + 1 : view.first + t
    let limit = upper(this.begins, view.until - view.first)
    if (this.begins.length !== view.fold.items.length) limit = Math.min(limit, view.fold.items.length)
    const from = Math.min(limit, view.limit)
    view.limit = limit
    view.window.changed(Math.max(0, from - 1))
    view.pill.hidden = true
    this.showTime(t)
  }

  toggle() {
    if (this.mode === 'playing') {
      this.setMode('paused')
      return
    }
    const fresh = this.isOff
    this.enter(() => this.plays(fresh))
  }

  // plays goes on from where it is: from the beginning, where that is the end.
  plays(fresh) {
    if (fresh && (this.before.follow || this.view.window.atEnd()) || this.at >= this.clock.end) this.at = 0
    this.view.window.follow = true
    this.setMode('playing')
    this.apply()
    this.last = performance.now()
    cancelAnimationFrame(this.asked)
    this.asked = requestAnimationFrame((now) => this.tick(now))
  }

  tick(now) {
    if (this.mode !== 'playing') return
    this.at += Math.max(0, Math.min(now - this.last, 250)) * this.speed
    this.last = now
    if (this.at >= this.clock.end) {
      this.at = this.clock.end
      this.setMode('paused')
      this.apply()
      say('The replay is at its end.')
      return
    }
    this.apply()
    this.asked = requestAnimationFrame((n) => this.tick(n))
  }

  faster(by) {
    this.speed = speeds[Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(this.speed) + by))]
    this.speedWords.textContent = (this.speed === 0.5 ? '½' : this.speed) + '×'
    setData(this.speedWords, { speed: this.speed })
    say('Speed ' + this.speed)
  }

  setSkip(on) {
    this.skip = on
    this.skipButton.setAttribute('aria-pressed', String(on))
    this.soonest()
  }

  // step goes to the next item, or the one before: to where it is whole.
  step(by) { this.enter(() => this.steps(by)) }

  steps(by) {
    if (this.mode === 'playing') this.setMode('paused')
    const { view } = this
    const t = this.clock.toReal(this.at)
    let next = by > 0 ? Infinity : 0
    const see = (s) => { if (by > 0 ? s > t + 0.5 && s < next : s < t - 0.5 && s > next) next = s }
    view.fold.items.forEach((item, i) => {
      if (!view.isShown(item)) return
      see(Math.max(this.begins[i], item.kind === 'tool' ? 0 : item.end - view.first))
      if (item.kind === 'tool') for (const seq of item.seqs) see(view.fold.atOf[seq] - view.first)
    })
    this.go(this.clock.toPlayed(next))
  }

  leave() {
    this.waiting = []
    if (this.mode === 'off') return
    this.setMode('off')
    cancelAnimationFrame(this.asked)
    const { view } = this
    view.until = Infinity
    view.limit = Infinity
    view.window.follow = this.before.follow
    view.window.anchor = this.before.anchor
    view.window.changed(0)
    this.showReading()
    view.show()
  }

  live() {
    this.leave()
    this.view.toEnd()
  }

  /** press does what a key says here; false if it says nothing. */
  press(e) {
    switch (e.key) {
      case ' ': this.toggle(); return true
      case 'ArrowLeft': this.by(-jump); return true
      case 'ArrowRight': this.by(jump); return true
      case '.': this.step(1); return true
      case ',': this.step(-1); return true
      case '[': this.faster(-1); return true
      case ']': this.faster(1); return true
      case 'Home':
        if (this.isOff && e.target !== this.scrubber) this.view.window.toStart()
        else this.to(0)
        return true
      case 'End':
        if (this.isOff && e.target !== this.scrubber) this.view.toEnd()
        else this.to(Infinity)
        return true
      case 'l': this.live(); return true
    }
    return false
  }

  // drawMarks draws what happened when, beneath the scrubber.
  async drawMarks() {
    try {
      await inSlices(this.drawing(), this.abort.signal)
    } catch (e) {
      if (e.name !== 'AbortError') throw e
    }
  }

  // drawing is drawMarks in steps. What was begun last is drawn.
  * drawing() {
    const turn = ++this.drawn
    const c = this.marks
    const width = c.clientWidth
    const height = c.clientHeight
    const { begins, clock } = this
    if (width === 0 || !begins || !(clock.end > 0)) return
    const all = this.view.fold.items
    const at = new Map(Object.keys(looks).map((kind) => [kind, new Set()])) // where marks stand, in pixels
    for (let i = 0; i < Math.min(all.length, begins.length); i++) {
      if (!all[i].hidden) at.get(all[i].kind)?.add(Math.round(clock.toPlayed(begins[i]) / clock.end * (width - 1)))
      if (i % few === few - 1) yield
      if (turn !== this.drawn) return
    }
    const scale = devicePixelRatio || 1
    c.width = width * scale
    c.height = height * scale
    const g = c.getContext('2d')
    g.scale(scale, scale)
    const colours = this.colours()
    for (const [kind, look] of Object.entries(looks)) {
      g.fillStyle = colours.get(look.colour)
      for (const x of at.get(kind)) g.fillRect(x, look.top * height, 1.5, look.part * height)
    }
  }

  // colours are those of the theme, since a canvas knows no variables. They are read once for each theme.
  colours() {
    const theme = document.documentElement.dataset.theme ?? String(matchMedia('(prefers-color-scheme: dark)').matches)
    if (this.theme !== theme) {
      this.theme = theme
      this.known = new Map()
      for (const { colour } of Object.values(looks)) {
        this.marks.style.color = 'var(' + colour + ')'
        this.known.set(colour, getComputedStyle(this.marks).color)
      }
    }
    return this.known
  }

  close() {
    this.abort.abort()
    cancelAnimationFrame(this.asked)
    clearTimeout(this.rebuild)
    clearTimeout(this.soon)
    this.resizes.disconnect()
    this.mode = 'off'
  }
}

// looks are drawn in this order.
const looks = {
  thought: { colour: '--thought', top: 0.7, part: 0.3 }, agent: { colour: '--ink-3', top: 0.45, part: 0.55 }, tool: { colour: '--tool', top: 0.25, part: 0.5 },
  permission: { colour: '--warn', top: 0.1, part: 0.6 }, stop: { colour: '--line-2', top: 0, part: 1 }, user: { colour: '--user', top: 0, part: 1 },
}

// upper is how many of the values are at most x.
function upper(values, x) {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle] <= x) low = middle + 1
    else high = middle
  }
  return low
}
