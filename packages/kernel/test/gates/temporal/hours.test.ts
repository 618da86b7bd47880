import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { isOpen, opensIn, parseHours, type Hours } from '../../../src/gates/temporal/hours.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Monday, 00:00 UTC. */
const MONDAY: number = Date.UTC(2026, 0, 5)

function hours(text: string): Hours {
  const read = parseHours(text)
  if (typeof read === 'string') throw new Error(read)
  return read
}

/** Checks that the hours are open and closed at these times, such as `mon 08:00`, in UTC. */
function check(text: string, open: readonly string[], closed: readonly string[]): void {
  for (const moment of open) expect(isOpen(hours(text), at(moment)), `${text} on ${moment}`).toBe(true)
  for (const moment of closed) expect(isOpen(hours(text), at(moment)), `${text} on ${moment}`).toBe(false)
}

function at(moment: string): number {
  const [day = '', time = ''] = moment.split(' ')
  const [hour = '', minute = ''] = time.split(':')
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].indexOf(day)
  return MONDAY + days * DAY + Number(hour) * HOUR + Number(minute) * MINUTE
}

describe('hours', () => {
  it('include the start and exclude the end', () => {
    check(
      'mon-fri 08:00-18:00',
      ['mon 08:00', 'fri 17:59'],
      ['mon 07:59', 'mon 18:00', 'sat 12:00', 'sun 12:00'],
    )
    expect(isOpen(hours('mon-fri 08:00-18:00'), at('fri 18:00') - 1)).toBe(true)
  })

  it('accept single days, ranges, ranges over the end of the week, and `daily`', () => {
    check('mon,wed 09:00-12:30', ['mon 12:29', 'wed 09:00'], ['tue 10:00', 'mon 12:30'])
    check('sat-sun 00:00-24:00', ['sat 00:00', 'sun 23:59'], ['fri 23:59', 'mon 00:00'])
    check(
      'fri-mon,wed 10:00-11:00',
      ['fri 10:00', 'sun 10:00', 'mon 10:00', 'wed 10:00'],
      ['tue 10:00', 'thu 10:00'],
    )
    check('daily 10:00-11:00', ['mon 10:00', 'sun 10:59'], ['sun 11:00'])
  })

  it('continue on the next day, also over the end of the week', () => {
    check('fri 22:00-02:00', ['fri 22:00', 'sat 01:59'], ['fri 01:00', 'sat 02:00', 'sat 22:00'])
    check('sun 22:00-02:00', ['sun 23:00', 'mon 01:59'], ['mon 02:00', 'sun 01:00'])
  })

  it('apply their offset from UTC', () => {
    check('mon 08:00-18:00 +01:00', ['mon 07:00', 'mon 16:59'], ['mon 06:59', 'mon 17:00'])
    check('mon 00:30-12:30 -05:30', ['mon 06:00', 'mon 17:59'], ['mon 05:59', 'mon 18:00'])
    // Monday morning in the east is still Sunday in UTC.
    check('mon 00:00-01:00 +14:00', ['sun 10:00'], ['sun 11:00', 'mon 10:00'])
    check('sun 23:00-24:00 -02:00', ['mon 01:00'], ['mon 02:00', 'mon 00:59'])
  })

  it('are the union of all windows', () => {
    const text = 'mon-fri 08:00-12:00; mon-fri 11:00-18:00 ;sat 09:00-10:00'
    check(text, ['mon 11:30', 'mon 17:00', 'sat 09:30'], ['sat 10:00'])
    check('mon 08:00-18:00; mon 09:00-10:00', ['mon 17:00'], ['mon 18:00'])
    expect(hours('daily 00:00-24:00')).toEqual([{ from: 0, to: 7 * DAY }])
    expect(hours('daily 00:00-12:00; daily 12:00-00:00')).toEqual([{ from: 0, to: 7 * DAY }])
  })

  it('report when they open', () => {
    const office = hours('mon-fri 08:00-18:00')
    expect(opensIn(office, at('mon 07:00'))).toBe(HOUR)
    expect(opensIn(office, at('mon 09:00'))).toBe(0)
    expect(opensIn(office, at('fri 18:00'))).toBe(2 * DAY + 14 * HOUR)
    expect(opensIn([], 0)).toBe(Infinity)
  })

  it('are correct before and after the epoch, a Thursday', () => {
    expect(isOpen(hours('thu 00:00-24:00'), 0)).toBe(true)
    expect(isOpen(hours('thu 00:00-24:00'), -1)).toBe(false)
    expect(isOpen(hours('wed 00:00-24:00'), -1)).toBe(true)
  })

  it('that are invalid give a message with a remedy', () => {
    const unreadable = [
      '',
      '08:00-18:00',
      'mon',
      'mon 8:00-18:00',
      'mon 08:00',
      'mon 08:60-09:00',
      'mon 24:00-01:00',
      'mon 08:00-24:01',
      'Mon 08:00-09:00',
      'mon-tue-wed 08:00-09:00',
      'mon- 08:00-09:00',
      'mon,, 08:00-09:00',
      'mon 08:00-09:00 +01:00 x',
      'mon 08:00-09:00;',
    ]
    for (const text of unreadable) expect(parseHours(text), text).toMatch(/hours are written/)
    expect(parseHours('mon 08:00-08:00')).toMatch(/00:00-24:00/)
    for (const offset of ['01:00', '+1:00', '+14:01', '+00:60', 'CET', 'Z']) {
      expect(parseHours(`mon 08:00-09:00 ${offset}`), offset).toMatch(/an offset from UTC/)
    }
    expect(parseHours(Array.from({ length: 21 }, () => 'mon 08:00-09:00').join(';'))).toMatch(/more than 20/)
    expect(parseHours(' '.repeat(1_000_000))).toMatch(/more than 20/)
  })

  it('are always closed until the reported opening time, and open then', () => {
    const day = fc.constantFrom('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
    const time = fc
      .tuple(fc.nat(23), fc.nat(59))
      .map((numbers) => numbers.map((number) => String(number).padStart(2, '0')).join(':'))
    const window = fc.tuple(day, day, time, time, fc.constantFrom('', ' +05:45', ' -11:00'))
    const text = window.map(([first, last, from, to, offset]) => `${first}-${last} ${from}-${to}${offset}`)
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), fc.integer(), (windows, moment) => {
        const read = parseHours(windows.join(';'))
        if (typeof read === 'string') return
        const wait = opensIn(read, moment)
        expect(wait === 0).toBe(isOpen(read, moment))
        expect(isOpen(read, moment + wait)).toBe(true)
        if (wait > 0) expect(isOpen(read, moment + wait - 1)).toBe(false)
        // Sorted and without overlaps.
        read.slice(1).forEach(({ from }, i) => expect(from).toBeGreaterThan(read[i]?.to ?? Infinity))
      }),
    )
  })
})
