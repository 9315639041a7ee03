// Where the reader was in a transcript: kept with the page's entry in the history, so that a reload and a way back
// lead there.

/** placeOf is where the reader was: {follow} or {seq, offset}; null if that is not known. @param {string} key */
export function placeOf(key) {
  const p = history.state?.place
  return p?.key === key ? p : null
}

/** keep remembers a place; null forgets it. */
export function keep(key, place) {
  history.replaceState({ ...history.state, place: place === null ? undefined : { key, ...place } }, '')
}
