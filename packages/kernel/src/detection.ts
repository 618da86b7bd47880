// Detection for doors and tools: scanners, scopes, schemas, text extraction, the paths of calls and the connections of a browser.

export type { Target } from './destinations/destination.ts'
export { readHttpUrl } from './destinations/url.ts'
export {
  mayConnect,
  mayHavePage,
  mayReach,
  type BrowserPage,
  type BrowserState,
  type ConnectionRules,
} from './gates/egress/connection.ts'
export { compileSchema, problemsInSchema } from './gates/schema/schema.ts'
export { MOST_SINKS, MOST_TOOLS, parseScope } from './gates/scope/parse.ts'
export { givenScope, scopeHash, type Scope, type Widening } from './gates/scope/scope.ts'
export { isHard } from './gates/taint/seen-values.ts'
export { inspect } from './gates/taint/inspect.ts'
export { leftOf } from './gates/temporal/limits.ts'
export { readTexts } from './gates/texts.ts'
export {
  SEVERITIES,
  THREAT_CODES,
  type Severity,
  type ThreatClass,
  type ThreatFinding,
} from './gates/threat/finding.ts'
export { scanText } from './gates/threat/scan.ts'
export { pathsNamed } from './open/paths.ts'
export type { CallPlace } from './shell/place.ts'
export { readTrust, trustAt, trustText } from './gates/trust/trust.ts'
export { valuesIn } from './text/values.ts'
export { ONE, POINT } from './units.ts'
