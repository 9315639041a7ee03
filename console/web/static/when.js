// Times and sizes as people read them.

/** span is a duration in ms, in the precision that people want. */
export function span(ms) {
  if (ms < 0) return '-' + span(-ms)
  if (ms < 1000) return Math.floor(ms) + ' ms'
  if (ms < 60_000) return (Math.floor(ms / 100) / 10).toFixed(1) + ' s'
  if (ms < 3_600_000) return Math.floor(ms / 60_000) + ' min ' + Math.floor(ms / 1000) % 60 + ' s'
  return Math.floor(ms / 3_600_000) + ' h ' + Math.floor(ms / 60_000) % 60 + ' min'
}

/** clock is a time behind the beginning: 0:03.2, 12:40.0, 1:02:03. */
export function clock(ms) {
  const sign = ms < 0 ? '-' : ''
  const tenths = Math.floor(Math.abs(ms) / 100)
  const s = Math.floor(tenths / 10)
  const two = (n) => String(n).padStart(2, '0')
  if (s >= 3600) return sign + Math.floor(s / 3600) + ':' + two(Math.floor(s / 60) % 60) + ':' + two(s % 60)
  return sign + Math.floor(s / 60) + ':' + two(s % 60) + '.' + tenths % 10
}

/** ago is how long ago something was, in the largest unit that says it. */
export function ago(ms) {
  if (ms < 5000) return 'now'
  const s = Math.floor(ms / 1000)
  if (s < 60) return s + ' s ago'
  if (s < 3600) return Math.floor(s / 60) + ' min ago'
  if (s < 48 * 3600) return Math.floor(s / 3600) + ' h ago'
  if (s < 2 * 365 * 86400) return Math.floor(s / 86400) + ' d ago'
  return Math.floor(s / (365 * 86400)) + ' y ago'
}

const days = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
const minutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** day names the day of a time: Today, Yesterday, or the date. @param {Date} at */
export function day(at, now = new Date()) {
  const start = (d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime()
  const back = Math.round((start(now) - start(at)) / 86_400_000)
  return back === 0 ? 'Today' : back === 1 ? 'Yesterday' : days.format(at)
}

/** minute is a time of day. @param {Date} at */
export function minute(at) { return minutes.format(at) }

/** date is a moment, in full, here and in UTC. @param {Date} at */
export function moment(at) {
  return days.format(at) + ', ' + at.toLocaleTimeString('en-GB') + ' (' + at.toISOString().replace('T', ' ').replace(/\.?0*Z$/, '') + ' UTC)'
}

/** size is a number of bytes. */
export function size(n) {
  if (n < 1000) return count(n, 'byte')
  if (n < 1_000_000) return (n / 1000).toFixed(1) + ' kB'
  return (n / 1e6).toFixed(1) + ' MB'
}

/** count is a number of things, with a separator between thousands. */
export function count(n, noun) {
  return n.toLocaleString('en-US') + ' ' + noun + (n === 1 ? '' : 's')
}
