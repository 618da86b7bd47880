// The same with the longest text that is read whole.

import { holdToPace } from './time.ts'

holdToPace(1024 * 1024)
