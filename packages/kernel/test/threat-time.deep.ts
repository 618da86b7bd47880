// The same with the longest text that is read whole.

import { holdToPace } from './threat-time.ts'

holdToPace(1024 * 1024)
