// The keyboard: what each key does, and the dialog that says so.

import { button, el } from './dom.js'

const groups = [
  ['Everywhere', [['?', 'these keys'], ['/', 'search'], ['t', 'theme'], ['u', 'list'], ['Esc', 'close']]],
  ['Reading', [['j k', 'next, previous'], ['J K', 'next, previous of the user’s'], ['g G', 'begin, end'], ['Enter', 'inspect; in the list: open'], ['o', 'fold, unfold'], ['c', 'copy link'], ['r', 'all records']]],
  ['Replay', [['Space', 'play, pause'], ['← →', '5 s back, on'], [', .', 'an item back, on'], ['[ ]', 'slower, faster'], ['Home End', 'begin, end'], ['l', 'live: leave the replay']]],
]

/** keysDialog makes the dialog. */
export function keysDialog() {
  const d = el('dialog.keys', { 'aria-label': 'Keys', data: { keys: true } })
  d.append(el('h2', null, 'Keys'), el('div.groups', null, groups.map(([name, keys]) => el('section', null, el('h3', null, name),
    el('dl', null, keys.map(([k, what]) => [el('dt', null, k.split(' ').map((one) => el('kbd', null, one))), el('dd', null, what)]))))),
  button('close', 'Close', () => d.close()))
  d.addEventListener('click', (e) => { if (e.target === d) d.close() })
  return d
}

/** onKey does what a key says. @param {KeyboardEvent} e */
export function onKey(e, page) {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return
  const on = e.target
  const writes = on.matches?.('input:not([type=range]):not([type=checkbox]), select, textarea, [contenteditable]')
  if (writes) return
  // what scrolls by itself has the keys that scroll
  if (on.matches?.('[tabindex="0"]:not([data-scroller])') && /^(?:Arrow|Page|Home|End| )/.test(e.key)) return
  const presses = on.matches?.('button, summary, a[href], input[type=checkbox]')
  if (presses && (e.key === 'Enter' || e.key === ' ')) return
  let done = true
  switch (e.key) {
    case '?': page.help(); break
    case '/':
      page.box.focus()
      page.box.select()
      break
    case 't': page.theme(); break
    case 'u': page.go('/'); break
    default: done = page.view()?.press?.(e) === true
  }
  if (done) e.preventDefault()
}
