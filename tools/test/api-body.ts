// Checks requests in documents against the routes of the gateway.

import { parseJson } from '../../packages/evidence/src/json.ts'
import { findRoute } from '../../packages/gateway/src/api/routes.ts'
import { problemsIn } from '../../packages/gateway/src/api/schema.ts'

/** Why a request has no route; undefined if it has one. */
export function routeProblem(method: string, path: string): string | undefined {
  try {
    findRoute(method, path)
    return undefined
  } catch (fault) {
    return String(fault)
  }
}

/** Why the gateway refuses this body; undefined if it takes it. */
export function bodyProblem(path: string, text: string): string | undefined {
  const missing = routeProblem('POST', path)
  if (missing !== undefined) return missing
  const { body } = findRoute('POST', path).route
  const value = parseJson(text.replaceAll(/VALUE OF \w+/g, '0'.repeat(64)))
  const problems = body ? problemsIn(body.schema, value) : ['the route takes no body']
  return problems.length === 0 ? undefined : problems.join('; ')
}
