// What the policy sees of the provider's tools in a request.

import type { HostedTool, RequestReading } from '../../src/llm/dialect.ts'

/** A reading whose tools of the provider have no places in the body. */
export function withoutPlaces<Reading extends RequestReading>(reading: Reading): Reading {
  return { ...reading, hosted: reading.hosted.map(factsOf) }
}

function factsOf({ tool, args, known }: HostedTool): HostedTool {
  return { tool, args, known }
}
