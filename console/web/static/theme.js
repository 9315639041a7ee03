// The theme, before anything is drawn: a switch that was used once is remembered, else the system decides.
try {
  const theme = localStorage.getItem('steno.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // storage is switched off: the system's theme it is
}
