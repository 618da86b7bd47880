import { rateName, refilled } from '../rates.ts'
import { deny, type Gate } from './gate.ts'

/**
 * Objects to a call beyond its rate. A rate of 20/h is a bucket that holds 20 calls and refills at 20 an hour, for each
 * principal; only calls that pass are taken from it.
 */
export const temporal: Gate = {
  name: 'temporal',
  standing: ({ gates: { rates } }) => (rates.length > 0 ? 'active' : 'not configured'),
  check({ tool }, { policy: { gates }, principal, time }) {
    for (const rate of gates.rates) {
      if (!rate.tools.matches(tool)) continue
      const { left } = refilled(rate, principal.rates[rateName(rate)], time)
      if (left >= rate.period) continue
      const wait = Math.ceil((rate.period - left) / rate.calls / 1000)
      return deny('TEMPORAL_INTERVENTION', `\`${rate.name}\` allows the next call in ${wait} s`)
    }
    return undefined
  },
}
