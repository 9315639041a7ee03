// The filters of the list and of the search: they are in the address, by the API's names.

import { button, el } from './dom.js'

const names = ['status', 'protocol', 'text', 'agent', 'namespace', 'label', 'since', 'until']

/** readFilters takes the filters out of an address. @param {URL} url @returns {Record<string, string|string[]>} */
export function readFilters(url) {
  const out = {}
  for (const n of names) {
    const all = url.searchParams.getAll(n).filter((v) => v !== '')
    if (all.length > 0) out[n] = n === 'label' ? all : all[0]
  }
  return out
}

const choices = {
  status: [['', 'any status'], ['open', 'live'], ['ended', 'ended'], ['abandoned', 'abandoned'], ['parked', 'parked']],
  protocol: [['', 'any protocol'], ['acp', 'ACP'], ['a2a', 'A2A']],
}
const texts = {
  text: ['Contains', 'words that were said'], agent: ['Agent', 'part of its name'], namespace: ['Namespace', ''],
  label: ['Label', 'team=mill, editor=zed'], since: ['Since', 'YYYY-MM-DD'], until: ['Before', 'YYYY-MM-DD'],
}

/**
 * filterBar makes the filters' controls.
 * @param {Record<string, string|string[]>} now
 * @param {(filters: object) => void} changed
 * @param {string[]} [leave] filters that this place has not
 */
export function filterBar(now, changed, leave = []) {
  const controls = {}
  let timer = 0
  const tell = (ms) => {
    clearTimeout(timer)
    timer = setTimeout(() => changed(values(controls)), ms)
  }
  const make = (n) => {
    const value = n === 'label' ? (now.label ?? []).join(', ') : now[n] ?? ''
    if (choices[n]) {
      controls[n] = el('select', { 'aria-label': n, data: { filter: n }, on: { change: () => tell(0) } }, choices[n].map(([v, words]) => el('option', { value: v, selected: v === value }, words)))
      return controls[n]
    }
    const [words, hint] = texts[n]
    controls[n] = el('input', { type: 'search', value, placeholder: n === 'text' ? words + ' …' : hint, 'aria-label': n === 'text' ? 'Contains' : undefined, autocomplete: 'off', spellcheck: 'false', data: { filter: n }, on: { input: () => tell(250) } })
    return n === 'text' ? controls[n] : el('label.filter', null, el('span', null, words), controls[n])
  }
  const first = ['text', 'status', 'protocol'].filter((n) => !leave.includes(n))
  const rest = names.filter((n) => !first.includes(n) && !leave.includes(n))
  const used = rest.filter((n) => now[n] !== undefined).length
  const more = el('div.more-filters', { hidden: used === 0 }, rest.map(make))
  const toggle = button('more-filters', 'More filters', () => {
    more.hidden = !more.hidden
    toggle.setAttribute('aria-expanded', String(!more.hidden))
  })
  toggle.setAttribute('aria-expanded', String(used > 0))
  const clear = button('clear-filters', 'Clear', () => {
    for (const n in controls) controls[n].value = ''
    tell(0)
  })
  clear.hidden = Object.keys(now).length === 0
  const bar = el('div.filters', { role: 'group', 'aria-label': 'Filters' }, el('div.first-filters', null, first.map(make), toggle, clear), more)
  return { element: bar, set: (filters) => { clear.hidden = Object.keys(filters).length === 0 }, stop: () => clearTimeout(timer) }
}

function values(controls) {
  const out = {}
  for (const n in controls) {
    const v = controls[n].value.trim()
    if (v === '') continue
    out[n] = n === 'label' ? v.split(/\s*,\s*/).filter((l) => l.includes('=')) : v
    if (n === 'label' && out[n].length === 0) delete out[n]
  }
  return out
}
