// Texts as people read them. A text of an agent or a server is only ever shown as text, with its invisible characters visible.

/** A text in which characters that cannot be seen, or that turn the direction of writing, are dots. Line breaks stay. */
export function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => (each === '\n' ? each : '·'))
}

/** The same on one line. */
export function line(text: string): string {
  return shown(text).replaceAll('\n', '·')
}

/** The first digits of a hash. */
export function digits(hash: string): string {
  return hash.slice(0, 8)
}

/** A time of day, with the date if it is not today. */
export function moment(time: string, now: number = Date.now()): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return line(time)
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  const isToday = new Date(now).toDateString() === date.toDateString()
  return isToday ? clock : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`
}

/** A duration in the two largest units, such as `4 min 12 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${two(minutes % 60)} min` : `${Math.floor(hours / 24)} days`
}

/** A number with thin gaps between thousands. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, '\u202f')
}

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
