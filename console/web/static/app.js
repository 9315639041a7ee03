// The page: which view an address has, and what is on every page: the search box, the theme, the keys.

import { button, clear, el, icon } from './dom.js'
import { keysDialog, onKey } from './keys.js'
import { List } from './list.js'
import { Search } from './search.js'
import { Transcript } from './transcript.js'

const main = document.getElementById('main')
let view = null

/** go shows an address of this page. @param {string} to @param {boolean} [replace] the entry in the history */
export function go(to, replace = false) {
  const url = new URL(to, location.href)
  view?.keepPlace?.()
  if (url.href !== location.href || replace) history[replace ? 'replaceState' : 'pushState'](null, '', url)
  show()
  if (document.body.dataset.view !== 'transcript') main.focus({ preventScroll: true, focusVisible: false })
}

function show() {
  view?.close()
  view = null
  const url = new URL(location.href)
  delete document.body.dataset.ready
  const key = transcriptKey(url.pathname)
  if (key !== null) {
    document.body.dataset.view = 'transcript'
    view = new Transcript(main, key, url)
  } else if (url.pathname === '/search') {
    document.body.dataset.view = 'search'
    view = new Search(main, url)
  } else if (url.pathname === '/') {
    document.body.dataset.view = 'list'
    view = new List(main, url)
  } else {
    document.body.dataset.view = 'missing'
    document.title = 'steno'
    clear(main).append(el('section.message-page', { data: { error: 'missing' } }, el('h1', null, 'There is no such page'), el('p', null, el('a', { href: '/' }, 'All transcripts'))))
    document.body.dataset.ready = ''
  }
  box.value = url.pathname === '/search' ? url.searchParams.get('q') ?? '' : ''
}

function transcriptKey(path) {
  const m = /^\/t\/((?:[A-Za-z0-9_-]+\/){5}[A-Za-z0-9_-]+)\/?$/.exec(path)
  return m === null ? null : m[1]
}

// Links inside the page need no new page.
document.addEventListener('click', (e) => {
  const a = e.target.closest?.('a[href]')
  if (a === null || a === undefined || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
  const url = new URL(a.href)
  if (url.origin !== location.origin || a.target === '_blank' || url.pathname.startsWith('/v1/') || a.hash === '#main') return
  e.preventDefault()
  go(url.href)
})
addEventListener('popstate', show)
addEventListener('hashchange', () => {
  if (/^#\d+$/.test(location.hash)) view?.toSeq?.(Number(location.hash.slice(1)))
})
addEventListener('keydown', (e) => onKey(e, { view: () => view, go, box, theme: nextTheme, help: () => keys.showModal() }))

const box = el('input', { id: 'search', type: 'search', placeholder: 'Search what was said', 'aria-label': 'Search what was said', autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'search' })
box.addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && box.value.trim() !== '') go('/search?q=' + encodeURIComponent(box.value.trim()))
  if (e.key === 'Escape') main.focus()
})

const keys = keysDialog()
const moon = 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z'
document.querySelector('[data-top]').append(
  el('a.brand', { href: '/', 'aria-label': 'steno: all transcripts' }, brand(), 'steno'),
  el('div.search', { role: 'search' }, box),
  el('div.tools', null,
    button('theme', 'Theme: light, dark, the system’s (t)', nextTheme, icon(moon)),
    button('keys', 'Keys (?)', () => keys.showModal(), '?')))
document.body.append(keys)

function brand() {
  const b = el('span.logo', { 'aria-hidden': 'true' })
  b.append(el('i'), el('i'), el('i'))
  return b
}

function nextTheme() {
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const next = { undefined: dark ? 'light' : 'dark', light: dark ? '' : 'dark', dark: dark ? 'light' : '' }[root.dataset.theme]
  if (next === '') delete root.dataset.theme
  else root.dataset.theme = next
  try {
    if (next === '') localStorage.removeItem('steno.theme')
    else localStorage.setItem('steno.theme', next)
  } catch {
    // it is for this page only, then
  }
}

show()
