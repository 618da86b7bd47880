// Runs the timing test with the maximum length of a scanned text.

import { testLinearTime } from './time.ts'

testLinearTime(1024 * 1024)
