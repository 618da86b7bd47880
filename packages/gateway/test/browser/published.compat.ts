// The published browser servers list exactly the tools that `published-tools.json` records, so that every tool has a row.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { connectPeer } from '../mcp/peers.ts'

const PUBLISHED: unknown = JSON.parse(readFileSync(new URL('published-tools.json', import.meta.url), 'utf8'))

const PACKAGES = { playwright: '@playwright/mcp', devtools: 'chrome-devtools-mcp' } as const

/** Every option that adds tools. */
const ALL = {
  playwright: ['playwright-mcp', '--caps=vision,pdf,devtools,network,storage,testing,config'],
  devtools: [
    'chrome-devtools-mcp',
    '--no-usage-statistics',
    '--experimentalVision',
    '--experimentalMemory',
    '--categoryExtensions',
    '--categoryPwa',
  ],
} as const

it.each(['playwright', 'devtools'] as const)('%s lists the recorded tools', async (name) => {
  const [program, ...args] = ALL[name]
  const command = fileURLToPath(new URL(`../../../../compat/node_modules/.bin/${program}`, import.meta.url))
  const peer = await connectPeer('v1', { command, args, env: { PATH: process.env.PATH ?? '' } })
  const { tools } = await peer.ask('tools/list')
  await peer.close()
  // Sound: the official client has checked the list.
  const listed = tools as readonly { name: string; inputSchema: { properties?: object } }[]
  const found: Record<string, unknown> = {}
  for (const tool of listed) found[tool.name] = Object.keys(tool.inputSchema.properties ?? {}).sort()
  expect(sorted(found)).toEqual(recorded(name))
  saw(npm(PACKAGES[name]), 'MCP, guarded browser')
})

function recorded(name: 'playwright' | 'devtools'): unknown {
  // Sound: the file is ours.
  const { tools } = (PUBLISHED as Record<string, { tools: Record<string, string[]> }>)[name] ?? { tools: {} }
  return sorted(Object.fromEntries(Object.entries(tools).map(([tool, names]) => [tool, [...names].sort()])))
}

function sorted(tools: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1)))
}
