// The conformance suite against a legacy server.

import { testConformance } from './conformance.ts'
import { startSubject } from './peers.ts'

testConformance({
  name: 'legacy-subject',
  start: () => startSubject('legacy'),
  least: { total: 100, passed: 60 },
})
