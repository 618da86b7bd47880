// Reads web pages as a person sees them, and finds text that directs an agent.

export { FINDING_CODES, type AwayCode, type FindingCode, type FindingKind } from './codes.ts'
export {
  observationOf,
  type Box,
  type ElementSign,
  type Finding,
  type PageHash,
  type PageReading,
  type PageTarget,
  type Place,
  type SentinelObservation,
} from './reading.ts'
