// The live stream of a transcript: it comes again by itself behind the last event that it brought. A tab that nobody
// sees gives its connection back: a browser has six for a host, and tabs share them.

import { of } from './api.js'

const hiddenFor = 3000 // ms until a hidden tab lets go
const again = 2000 // ms until a stream that the browser gave up is asked for again

export class Stream {
  /**
   * @param {string} key
   * @param {() => number} cursor the number of the last event that is known
   * @param {{event: Function, delta: Function, snapshot: Function, lag: Function, end: Function, connection: (state: string) => void}} tell
   */
  constructor(key, cursor, tell) {
    this.key = key
    this.cursor = cursor
    this.tell = tell
    this.source = null
    this.timer = 0
    this.over = false
    this.wanted = false // it was opened once
    this.seen = () => this.watch()
    document.addEventListener('visibilitychange', this.seen)
  }

  open() {
    this.wanted = true
    if (this.over || this.source !== null) return
    if (document.hidden) {
      this.tell.connection('paused')
      return
    }
    if (document.hidden) this.watch() // it may have been opened behind another tab
    this.tell.connection('connecting')
    const source = this.source = new EventSource(of(this.key) + '/stream?after=' + this.cursor())
    source.onopen = () => this.tell.connection('live')
    source.onerror = () => {
      this.tell.connection('broken')
      if (source.readyState !== EventSource.CLOSED) return // the browser comes again
      this.drop()
      this.later(again)
    }
    source.addEventListener('event', (m) => this.tell.event(m.data))
    source.addEventListener('delta', (m) => this.tell.delta(JSON.parse(m.data)))
    source.addEventListener('snapshot', (m) => this.tell.snapshot(JSON.parse(m.data)))
    source.addEventListener('lag', (m) => this.tell.lag(JSON.parse(m.data)))
    source.addEventListener('end', (m) => this.tell.end(JSON.parse(m.data)))
  }

  watch() {
    clearTimeout(this.timer)
    if (!this.wanted) return
    if (!document.hidden) this.open()
    else {
      this.timer = setTimeout(() => {
        this.drop()
        this.tell.connection('paused')
      }, hiddenFor)
    }
  }

  later(ms) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.open(), ms)
  }

  drop() {
    this.source?.close()
    this.source = null
  }

  /** again opens it anew behind the last event that is known. */
  again() {
    this.drop()
    this.open()
  }

  /** close ends it for good. */
  close() {
    this.over = true
    clearTimeout(this.timer)
    document.removeEventListener('visibilitychange', this.seen)
    this.drop()
  }
}
