import { holdToPace } from './time.ts'

holdToPace(128 * 1024)
