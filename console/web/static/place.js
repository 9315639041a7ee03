// Where the reader was in a transcript: kept with the page's entry in the history, so that a way back leads there, and
// with the tab, so that a reload does, however soon it comes.

const name = 'steno.place'
let reloaded = performance.getEntriesByType('navigation')[0]?.type === 'reload'

/**
 * placeOf is where the reader was: {follow} or {seq, offset}, and whether that is so by a reload; null if it is not known.
 * @param {string} key
 */
export function placeOf(key) {
  let p = history.state?.place
  if (reloaded) {
    reloaded = false
    try {
      const kept = JSON.parse(sessionStorage.getItem(name))
      if (kept?.key === key) p = { ...kept, reload: true }
    } catch {
      // storage is switched off: the history has it
    }
  }
  return p?.key === key ? p : null
}

/** keep remembers a place; null forgets it. */
export function keep(key, place) {
  const p = place === null ? undefined : { key, ...place }
  history.replaceState({ ...history.state, place: p }, '')
  try {
    if (p === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, JSON.stringify(p))
  } catch {
    // the history has it
  }
}
