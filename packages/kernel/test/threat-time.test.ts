import { holdToPace } from './threat-time.ts'

holdToPace(256 * 1024)
