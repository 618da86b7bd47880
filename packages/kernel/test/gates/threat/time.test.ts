import { holdToPace } from './time.ts'

holdToPace(256 * 1024)
