// What is said aloud to those who do not see it: short, and not for each piece of text.

/** copy puts words on the clipboard, and says so. Over plain HTTP a browser has none but the old way. */
export async function copy(words, done) {
  let copied
  try {
    await navigator.clipboard.writeText(words)
    copied = true
  } catch {
    copied = copyOld(words)
  }
  say(copied ? done : 'The browser did not allow it.')
}

function copyOld(words) {
  const before = document.activeElement
  const box = document.createElement('textarea')
  box.value = words
  box.style.position = 'fixed'
  box.style.opacity = '0'
  document.body.append(box)
  box.select()
  const copied = document.execCommand('copy')
  box.remove()
  before?.focus({ preventScroll: true })
  return copied
}

/** say tells something politely. @param {string} words */
export function say(words) {
  const e = document.querySelector('[data-status-text]')
  if (e.textContent === words) e.textContent = ''
  e.textContent = words
}
