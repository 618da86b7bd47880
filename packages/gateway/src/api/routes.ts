// The table of all routes, and the lookup of a route by path.

import { alwaysRoutes } from './always.ts'
import { approvalRoutes } from './approvals.ts'
import { delegationRoutes } from './delegations.ts'
import { effectRoutes } from './effects.ts'
import { evaluateRoutes } from './evaluate.ts'
import { evidenceRoutes } from './evidence.ts'
import { explainRoutes } from './explain.ts'
import { freezeRoutes } from './freeze.ts'
import { healthRoutes } from './health.ts'
import { hookRoutes } from './hooks.ts'
import { metricsRoutes } from './metrics.ts'
import { noticeRoutes } from './notices.ts'
import { observationRoutes } from './observations.ts'
import { observeRoutes } from './observe.ts'
import { openApiRoutes } from './openapi.ts'
import { pardonRoutes } from './pardons.ts'
import { policyRoutes } from './policy.ts'
import { principalRoutes } from './principals.ts'
import { Problem } from './problem.ts'
import { receiptRoutes } from './receipts.ts'
import type { ApiRoute } from './route.ts'
import { problemsIn } from './schema.ts'
import { scopeRoutes } from './scopes.ts'
import { sessionRoutes } from './sessions.ts'
import { streamRoutes } from './stream.ts'
import { tokenRoutes } from './tokens.ts'
import { toolRoutes } from './tools.ts'

/** All routes, in the order of the reference. */
export const ROUTES: readonly ApiRoute[] = [
  ...evaluateRoutes,
  ...effectRoutes,
  ...hookRoutes,
  ...observationRoutes,
  ...receiptRoutes,
  ...streamRoutes,
  ...noticeRoutes,
  ...approvalRoutes,
  ...alwaysRoutes,
  ...sessionRoutes,
  ...scopeRoutes,
  ...pardonRoutes,
  ...principalRoutes,
  ...delegationRoutes,
  ...freezeRoutes,
  ...policyRoutes,
  ...observeRoutes,
  ...explainRoutes,
  ...toolRoutes,
  ...evidenceRoutes,
  ...tokenRoutes,
  ...healthRoutes,
  ...metricsRoutes,
  // Takes a function, because the route is part of the table.
  ...openApiRoutes(() => ROUTES),
]

/** A route and its path parameters. */
export interface FoundRoute {
  readonly route: ApiRoute
  readonly params: Readonly<Record<string, string>>
}

interface PathPattern {
  readonly form: RegExp
  readonly names: readonly string[]
  readonly routes: readonly ApiRoute[]
}

const paths = [...new Set(ROUTES.map(({ path }) => path))]
const exact = new Map(paths.filter((path) => !path.includes('{')).map((path) => [path, patternOf(path)]))
const free = paths.filter((path) => path.includes('{')).map(patternOf)

function patternOf(path: string): PathPattern {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return {
    form: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
    names,
    routes: ROUTES.filter((route) => route.path === path),
  }
}

/** The route of a path. @throws Problem `not-found`, `method-not-allowed` or `request-invalid`. */
export function findRoute(method: string, path: string): FoundRoute {
  const pattern = exact.get(path) ?? free.find(({ form }) => form.test(path))
  if (!pattern) throw new Problem('not-found', 'there is no such route')
  const route = pattern.routes.find((each) => each.method === method)
  if (!route) {
    const allow = pattern.routes.map((each) => each.method).join(', ')
    throw new Problem('method-not-allowed', undefined, { headers: { allow } })
  }
  return { route, params: pattern.names.length === 0 ? NO_PARAMS : paramsOf(pattern, route, path) }
}

const NO_PARAMS: FoundRoute['params'] = {}

function paramsOf(
  { form, names }: PathPattern,
  { params = {} }: ApiRoute,
  path: string,
): FoundRoute['params'] {
  const [, ...parts] = form.exec(path) ?? []
  const values = names.map((name, i) => [name, decoded(parts[i] ?? '')] as const)
  const fits = values.every(
    ([name, value]) => problemsIn(params[name] ?? { type: 'null' }, value).length === 0,
  )
  if (!fits) throw new Problem('not-found')
  return Object.fromEntries(values)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Problem('request-invalid', 'the path is not percent-encoded UTF-8')
  }
}
