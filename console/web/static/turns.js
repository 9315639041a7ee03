// Work that takes longer than a frame, in slices. Between two of them the browser has its turn: it draws, and hears what
// the user does.

const slice = 8 // ms of work at a time

const channel = new MessageChannel()
const waiting = []
channel.port1.onmessage = () => waiting.shift()()

/**
 * breathe ends when the browser had its turn. The browser's own scheduler.yield is not taken: what goes on by it goes
 * before drawing, for up to 100 ms.
 */
export function breathe() {
  return new Promise((resolve) => {
    waiting.push(resolve)
    channel.port2.postMessage(null)
  })
}

/** Slice says when it is time to breathe. */
export class Slice {
  constructor() { this.begin() }

  begin() { this.until = performance.now() + slice }

  get isOver() { return performance.now() > this.until }
}

/**
 * inSlices goes through the steps of a generator, the first ones at once.
 * @param {Iterator} steps @param {AbortSignal} signal ends it with its reason
 * @returns {Promise<number>} ms that they took
 */
export async function inSlices(steps, signal) {
  let took = 0
  for (;;) {
    const began = performance.now()
    const now = new Slice()
    let done
    do done = steps.next().done
    while (!done && !now.isOver)
    took += performance.now() - began
    if (done) return took
    await breathe()
    signal.throwIfAborted()
  }
}
