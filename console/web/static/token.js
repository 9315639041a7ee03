// The operator's token: kept for this tab until it is closed, and written nowhere else.

const name = 'steno.token'
let kept = '' // where the browser keeps nothing for a page

/** token is the one that is kept; empty: none. */
export function token() {
  try {
    return sessionStorage.getItem(name) ?? ''
  } catch {
    return kept
  }
}

/** keepToken keeps a token in the place of the one before; empty: none. @param {string} now */
export function keepToken(now) {
  kept = now
  try {
    if (now === '') sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, now)
  } catch {
    // it is for this page only, then
  }
}
