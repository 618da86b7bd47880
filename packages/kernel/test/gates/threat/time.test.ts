import { testLinearTime } from './time.ts'

testLinearTime(128 * 1024)
