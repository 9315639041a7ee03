// What is said aloud to those who do not see it: short, and not for each piece of text.

/** say tells something politely. @param {string} words */
export function say(words) {
  const e = document.querySelector('[data-status-text]')
  if (e.textContent === words) e.textContent = ''
  e.textContent = words
}
