// The conformance suite against the everything server, and against a server that has all features of both protocols.

import { expect, test } from 'vitest'
import { sawNothing } from '../../../../tools/compat/saw.ts'
import { EXCEPTIONS, testConformance } from './conformance.ts'
import { startEverything, startSubject } from './peers.ts'

testConformance({ name: 'everything', start: startEverything, least: { total: 100, passed: 40 } })
testConformance({
  name: 'subject',
  start: () => startSubject('both'),
  least: { total: 180, passed: 160 },
})

test('every exception is for a compared check and has a reason', () => {
  expect(Object.keys(EXCEPTIONS)).toEqual(['everything', 'subject'])
  for (const reasons of Object.values(EXCEPTIONS)) {
    for (const reason of Object.values(reasons)) expect(reason.length).toBeGreaterThan(40)
  }
  sawNothing('the test of the exceptions runs no client')
})
