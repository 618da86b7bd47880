// The health check of the image: exit 0 if the gateway can decide and record calls. It asks itself, so it needs no authority.

import { get } from 'node:https'
import process from 'node:process'

const { TOLLGATE_PORT: port = 7700 } = process.env
get({
  host: '127.0.0.1',
  port,
  path: '/readyz',
  headers: { host: 'localhost' },
  rejectUnauthorized: false,
  timeout: 4000,
})
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
