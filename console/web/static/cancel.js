// A transcript's cancel: a button where one can be delivered, the question whether it is meant, and what came of it.

import { Fault, json, of, post } from './api.js'
import { button, clear, el, setData } from './dom.js'
import { say } from './status.js'
import { titleOf } from './summary.js'
import { keepToken, token } from './token.js'
import { oneLine } from './visible.js'
import { moment } from './when.js'

/** Cancel is the button, the dialog that it opens, and the line that says what came of it. */
export class Cancel {
  /** @param {Transcript} view */
  constructor(view) {
    this.view = view
    this.live = false
    this.asks = 0 // the answer to the last one counts
    this.cancel = null // the one that was pressed for: {id, reason, perhaps}, the reason once it may have been sent; perhaps: it may have been done
    this.sending = false
    this.told = null // what was said last: [state, mark, words, and what stands behind them]
    this.button = button('cancel', 'Cancel what the agent is doing now', () => this.press(), 'cancel')
    this.button.hidden = true
    this.line = el('p.outcome', { hidden: true })
    this.drawDialog()
  }

  drawDialog() {
    this.about = el('p', { id: 'cancel-about' })
    this.reason = el('input', { type: 'text', autocomplete: 'off', maxlength: 1000, data: { field: 'reason' } })
    this.token = el('input', { type: 'password', autocomplete: 'off', maxlength: 1000, spellcheck: 'false', 'aria-describedby': 'cancel-token', data: { field: 'token' } })
    this.asked = el('div.field', null, el('label', null, 'Your token as an operator', this.token),
      el('p.aside', { id: 'cancel-token' }, 'One of those in the file that steno’s ', operators(), ' names. It is kept in this tab only.'))
    this.known = el('p.aside', { data: { known: true } }, 'In the name of the token that this tab keeps · ', button('forget', 'Forget it: the token is asked for again', () => {
      this.askToken('')
      this.token.focus()
    }, 'forget it'))
    this.note = el('p.note', { role: 'status' })
    this.leave = el('button', { type: 'button', data: { action: 'close' }, on: { click: () => this.dialog.close() } })
    this.go = el('button.grave', { type: 'button', data: { action: 'confirm' }, on: { click: () => this.send() } })
    this.dialog = el('dialog.question', { 'aria-labelledby': 'cancel-title', 'aria-describedby': 'cancel-about', data: { question: true }, on: { close: () => this.closed() } },
      el('div.questions', { on: { keydown: (e) => this.typed(e) } }, // no form: the page has none
      el('h2', { id: 'cancel-title' }, 'Cancel what the agent is doing?'), this.about,
      el('div.field', null, el('label', null, 'Why, for the record (may be empty)', this.reason)), this.asked, this.known, this.note,
      el('div.answers', null, this.leave, this.go)))
  }

  // typed sends at Enter. Until the key is let go it does nothing else: the answer may close the dialog before, and the button
  // that has the focus again would be pressed.
  typed(e) {
    if (e.key !== 'Enter' || e.repeat || e.isComposing || !e.target.matches('input')) return
    const nothing = (press) => press.preventDefault()
    addEventListener('keypress', nothing, true)
    addEventListener('keyup', () => removeEventListener('keypress', nothing, true), { capture: true, once: true })
    this.send()
  }

  /** update shows the button where a cancel can be delivered: that is asked when the transcript is live, and again when it is so again. */
  update() {
    const { model } = this.view
    const live = model.summary.status === 'open' && model.connection === 'live'
    if (model.summary.status !== 'open') this.can(false)
    if (live && !this.live) this.ask()
    this.live = live
  }

  async ask() {
    const { key, model } = this.view
    const ask = ++this.asks
    let can = false
    try {
      if (ask > 1) await model.refresh() // it may have ended meanwhile
      if (ask !== this.asks || model.summary.status !== 'open') return
      const { supported } = await json(of(key) + '/interventions', model.signal)
      can = supported.some((s) => s.primitive === 'Cancel')
    } catch (e) {
      if (model.signal.aborted) return
      if (!(e instanceof Fault)) console.error(e)
    }
    if (ask === this.asks) this.can(can && model.summary.status === 'open')
  }

  can(can) {
    if (!can && document.activeElement === this.button) this.view.scroller.focus({ preventScroll: true, focusVisible: false })
    this.button.hidden = !can
  }

  // press is another cancel, unless one is on its way.
  press() {
    if (!this.sending) {
      this.cancel = { id: newID(), reason: undefined, perhaps: false }
      this.reason.value = ''
      this.tell(null)
    }
    this.open()
  }

  open() {
    clear(this.about).append('In “' + titleOf(this.view.model.summary) + '”, now. The transcript will say that you did.')
    this.askToken(token())
    this.show()
    this.dialog.showModal()
    this.reason.focus()
    this.showTold()
  }

  // askToken asks for a token where none is kept.
  askToken(now) {
    keepToken(now)
    this.token.value = ''
    this.asked.hidden = now !== ''
    this.known.hidden = now === ''
  }

  // show brings the dialog in step with what is being done. What may have been sent stays as it is: under its id there is no other.
  show() {
    this.reason.readOnly = this.cancel.reason !== undefined
    if (this.sending) this.go.setAttribute('aria-disabled', 'true')
    else this.go.removeAttribute('aria-disabled')
    this.go.textContent = this.sending ? 'Sending …' : this.reason.readOnly ? 'Try again' : 'Cancel it'
    this.leave.textContent = this.reason.readOnly ? 'Close' : 'Let it go on'
  }

  async send() {
    if (this.sending) return
    const by = this.token.value.trim() || token()
    if (by === '') return this.refused('unauthorized', 'A token says who you are.')
    this.askToken(by)
    const { cancel } = this
    cancel.reason ??= this.reason.value.trim()
    this.sending = true
    this.show()
    this.tell('sent', '', 'It was sent; no answer has come yet.')
    let outcome = null
    let fault = null
    try {
      outcome = await post(of(this.view.key) + '/interventions', by, { id: cancel.id, kind: { kind: 'Cancel', reason: cancel.reason || undefined } })
    } catch (e) {
      if (!(e instanceof Fault)) console.error(e)
      fault = e
    }
    this.sending = false
    if (fault === null) this.done(outcome)
    else this.failed(fault)
    this.show()
  }

  done(outcome) {
    this.cancel.perhaps = false
    this.dialog.close()
    this.tell(...(outcomes[outcome.outcome] ?? other)(outcome))
  }

  failed(e) {
    const { perhaps } = this.cancel // what refuses this try says nothing of one before, whose answer did not come
    if (e.code === 'unauthorized') return this.refused(e.code, 'This server does not know that token. ' + (perhaps ? unknown : 'Nothing was done.'))
    if (e.code === 'no_interventions') return this.refused(e.code, [perhaps ? 'Nobody may intervene here now. ' + unknown + ' Steno’s ' : 'Nobody may intervene here, and nothing was done: steno’s ', operators(), ' names the file that says who may, a name and a token a line.'])
    if (!(e instanceof Fault) || e.passes || e.status >= 500) {
      this.cancel.perhaps = true
      return this.tell('unanswered', '!', 'No answer came: whether it was done is not known. Trying again is the same cancel, which is done once.')
    }
    if (!perhaps) this.cancel.reason = undefined // it was refused before it was sent on
    this.tell('failed', '!', (perhaps ? unknown + ' This time it was refused: ' : 'It was not done: ') + oneLine(e.message))
  }

  // refused asks for another token.
  refused(state, words) {
    if (!this.cancel.perhaps) this.cancel.reason = undefined
    this.askToken('')
    this.tell(state, '!', words)
    this.token.focus()
  }

  // closed leads back, and leaves what is still to be known where it can be seen.
  closed() {
    const at = this.button.hidden ? this.view.scroller : this.button
    at.focus({ preventScroll: true })
    if (this.told?.[0] === 'unauthorized' && !this.cancel.perhaps) this.told = null
    if (this.line.hidden) this.showTold()
  }

  tell(state, ...words) {
    this.told = state === null ? null : [state, ...words]
    this.showTold()
  }

  // showTold shows what was said last in the dialog, which is read aloud there, or else below the heading.
  showTold() {
    const asks = this.dialog.open && this.dialog.isConnected
    for (const e of [this.note, this.line]) setData(clear(e), { cancel: null })
    this.line.hidden = asks || this.told === null
    if (this.told === null) return
    const [state, mark, words, ...more] = this.told
    const at = asks ? this.note : this.line
    setData(at, { cancel: state })
    const said = el('span.words', null, words)
    at.append(el('span.mark', { 'aria-hidden': 'true' }, mark === '' ? '' : mark + ' '), said, ...more)
    if (asks) return
    say(said.textContent)
    if (this.cancel.perhaps) at.append(' ', button('again', 'Try again: it is the same cancel', () => this.open(), 'try again'))
  }
}

const outcomes = {
  __proto__: null,
  Applied: () => {
    const at = new Date()
    return ['applied', '✓', 'The cancel was delivered.', ' ', el('time.aside', { datetime: at.toISOString(), title: moment(at) }, at.toLocaleTimeString('en-GB'))]
  },
  StaleTarget: (o) => ['stale', '!', (o.unknown ? 'Whether it was cancelled is not known: ' : 'Not cancelled: ') + oneLine(o.detail || 'there is nothing to cancel any more')],
  CapabilityNotSupported: (o) => ['not_supported', '!', 'Not cancelled: in this conversation there is no way to deliver a ' + oneLine(o.primitive?.primitive ?? 'Cancel') + '.'],
}

const other = (o) => ['failed', '?', 'The answer was: ' + oneLine(String(o.outcome))]

const unknown = 'Whether it was done before is not known.'

const operators = () => el('code', null, '--operators')

// newID is one that no other intervention has.
const newID = () => 'web-' + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')
