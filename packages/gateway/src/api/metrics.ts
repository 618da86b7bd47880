// The route of the metrics.

import { EXPOSITION } from '../telemetry/exposition.ts'
import { TEXT } from './schema.ts'
import type { ApiQuestion, Reply, ApiRoute } from './route.ts'

async function show({ options, metrics }: ApiQuestion): Promise<Reply> {
  return { status: 200, headers: { 'content-type': EXPOSITION }, body: await metrics.text(options) }
}

export const metricsRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/metrics',
    id: 'showMetrics',
    about: 'Returns metrics in the Prometheus text format. [metrics.md](metrics.md) lists them.',
    roles: ['operator', 'admin', 'auditor', 'metrics'],
    answers: { 200: { about: 'The metrics.', type: EXPOSITION, schema: TEXT } },
    answer: show,
  },
]
