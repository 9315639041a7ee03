// A transcript's proof: made when somebody asks for it, told below the heading, and old once there is more.

import { Fault, json, of, pause } from './api.js'
import { button, clear, el, setData } from './dom.js'
import { say } from './status.js'
import { oneLine } from './visible.js'
import { count, moment } from './when.js'

const turn = 500 // ms after which a proof is asked for again where another one is being made

/** Proof is the button that asks for a proof of a transcript's recording, and the line that says what came of it. */
export class Proof {
  /** @param {Transcript} view */
  constructor(view) {
    this.view = view
    this.asking = null // ends what is asked for
    this.seen = Infinity // number of the last event when it was asked for
    this.words = el('span', null, 'verify')
    this.button = button('verify', 'Verify: fold every frame of this recording again, and compare with what is stored', () => this.ask(), this.words)
    this.line = el('p.proof', { hidden: true })
  }

  close() { this.asking?.abort() }

  /** update says that the proof is old where more was said since. */
  update() {
    if (last(this.view.model) <= this.seen || 'old' in this.line.dataset) return
    setData(this.line, { old: true })
    this.line.append(el('span.aside', null, ' · more was said since'))
  }

  async ask() {
    if (this.asking !== null) return
    this.asking = new AbortController()
    const { signal } = this.asking
    this.button.setAttribute('aria-disabled', 'true')
    this.words.textContent = 'verifying …'
    this.tell('asked', 'Every frame is folded again.')
    this.seen = Infinity
    const seen = last(this.view.model)
    try {
      const p = await this.proof(signal)
      this.seen = seen
      this.tell(p.verdict, ...conclusion(this.view, p))
    } catch (e) {
      if (signal.aborted) return
      if (!(e instanceof Fault)) console.error(e)
      this.tell('failed', 'It could not be verified: ' + e.message)
    }
    this.asking = null
    this.button.removeAttribute('aria-disabled')
    this.words.textContent = 'verify again'
    this.update()
  }

  // proof waits for its turn: a server makes a few at a time.
  async proof(signal) {
    for (;;) {
      try {
        return await json(of(this.view.key) + '/verify', signal)
      } catch (e) {
        if (e.code !== 'too_many_proofs') throw e
        this.tell('waiting', 'Other recordings are being verified; this one waits for its turn.')
        await pause(turn, signal)
      }
    }
  }

  tell(verdict, ...nodes) {
    if (this.line.dataset.proof === verdict && verdict === 'waiting') return
    this.line.hidden = false
    setData(this.line, { proof: verdict, old: null })
    clear(this.line).append(...nodes)
    say(this.line.textContent)
  }
}

// last is the number of the last event that is known.
const last = (model) => Math.max(model.head, model.seen)

// conclusion is what came of it.
function conclusion(view, p) {
  const at = new Date(p.at)
  const numbers = [p.verified.toLocaleString('en-US') + ' of ' + count(p.frames, 'frame') + ', ' + p.unaccounted + ' unaccounted at ',
    el('time', { datetime: p.at, title: moment(at) }, at.toLocaleTimeString('en-GB'))]
  const [mark, ...words] = verdicts[p.verdict]?.(view, p, numbers) ?? ['?', oneLine(p.verdict)]
  const more = [count(p.events, 'event') + ' byte for byte the same']
  const differs = p.findings.length > 0
  if (p.frames > p.verified && !differs && p.verdict !== 'not_repeated') more.push('the last ' + count(p.frames - p.verified, 'frame') + ' gave no event yet')
  if (p.open > 0) more.push(count(p.open, 'frame') + ' in open messages')
  more.push(sealed(p))
  const nodes = [el('span.proof-mark', { 'aria-hidden': 'true' }, mark + ' '), el('span.words', { title: 'Of the whole recording, with all its sessions' }, ...words),
    el('span.aside', { title: 'Seals and signatures are checked by: steno verify ARCHIVE' }, differs ? [' · folded again: ', ...numbers] : null, ' · ' + more.join(' · '))]
  if (differs) nodes.push(el('details', null, el('summary', null, p.more > 0 ? 'the first ' + p.findings.length + ' of ' + count(p.findings.length + p.more, 'difference') : count(p.findings.length, 'difference')),
    el('ul', null, p.findings.map((f) => el('li', null, ...place(view, f), ': ', oneLine(f.detail))))))
  return nodes
}

const verdicts = {
  __proto__: null,
  verified: (_, p, numbers) => ['✓', 'verified ', ...numbers],
  gaps: (_, p, numbers) => ['!', 'verified ', ...numbers, ', with ' + count(p.gaps, 'gap') + ' where frames were lost before they were stored'],
  not_repeated: (_, p, numbers) => ['!', 'not folded again, since this server does not have ' + oneLine(p.translator || 'its translator') + '; all else was checked: ', ...numbers],
  differs: (view, p) => ['✗', 'differs: ', ...place(view, p.findings[0])],
}

const problems = {
  __proto__: null,
  changed: 'a stored event was changed', missing: 'an event is missing', added: 'something was added', numbers: 'frames are missing', chain: 'the chain of the frames is broken',
  unreadable: 'a frame cannot be read', unfoldable: 'a frame cannot be folded', unaccounted: 'frames are unaccounted for', parked: 'what came next does not fit, and was not stored',
}

// place says what does not agree, and where.
function place(view, f) {
  const nodes = [problems[f.problem] ?? oneLine(f.problem)]
  const where = []
  if (f.frame > 0) where.push('frame ' + f.frame)
  if (f.store_seq > 0) {
    const key = f.capture + '/' + f.session
    where.push(el('a', { href: '/t/' + key + '?seq=' + f.store_seq, on: { click: (e) => {
      if (key !== view.key || e.metaKey || e.ctrlKey || e.shiftKey) return
      e.preventDefault() // it stands on this page
      view.toSeq(f.store_seq)
    } } }, 'event ' + f.store_seq + (key === view.key ? '' : ' of session ' + f.session)))
  }
  where.forEach((w, i) => nodes.push(i === 0 ? ' at ' : ', ', w))
  return nodes
}

function sealed(p) {
  if (p.sealed === null) return 'no seal known here'
  if (p.sealed === 0) return 'not sealed'
  return p.sealed >= p.frames ? 'sealed' : 'sealed up to frame ' + p.sealed
}
