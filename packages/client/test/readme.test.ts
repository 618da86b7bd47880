// Runs the programs of the README against the real gateway. `tools/test/documents.test.ts` compiles them. Needs the build.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as client from '../src/index.ts'
import { startGateway, type RealGateway } from './gateway.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const programs = [...text.matchAll(/^## (.*)\n\n```ts\n([^]*?)```$/gm)].map(([, title = '', code = '']) => ({
  title,
  code,
}))

// Inside the repository, so that our packages resolve.
let folder: string
let gateway: RealGateway

beforeAll(async () => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  folder = mkdtempSync(join(root, '.cache/readme-'))
  programs.forEach(({ code }, i) => writeFileSync(join(folder, `${i}.ts`), code))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the README', () => {
  it('has only programs that run here', () => {
    expect(programs.map(({ title }) => title)).toEqual([
      'Guard a tool',
      'Let a person decide',
      'Check a receipt',
      'Ask manually and stream receipts',
    ])
    expect(text.match(/^```ts$/gm)).toHaveLength(programs.length)
  })

  it.each([
    ['Guard a tool', /^todo: buy milk\nPOLICY_VIOLATION .* [0-9a-f]{64}\n$/],
    [
      'Let a person decide',
      /^waits for a person: demo\/post_note .*\nposted to https:\/\/partner.example\/notes\n$/,
    ],
    ['Check a receipt', /^decision [0-9a-f]{64} is entry \d+ of \d+; signature checked\n$/],
    ['Ask manually and stream receipts', /^\d+ decision\n\d+ effect\n$/],
  ])('has a program that runs: %s', (title, says) => {
    const i = programs.findIndex((program) => program.title === title)
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--import', 'tsx', join(folder, `${i}.ts`)],
      {
        cwd: root,
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          TOLLGATE_URL: gateway.url,
          TOLLGATE_AGENT_TOKEN: gateway.agentToken,
          TOLLGATE_APPROVER_TOKEN: gateway.adminToken,
          TOLLGATE_TRUST: gateway.trustFile,
        },
      },
    )
    expect(stderr).toBe('')
    expect(stdout).toMatch(says)
    expect(status).toBe(0)
  })

  it('lists every function', () => {
    const made = client.createClient({ url: 'https://a', token: 't' })
    const functions = Object.keys(client).filter(
      (name) => !/^(Approval|Effect|Page|Tool|Tollgate|Withheld)/.test(name),
    )
    const names = [
      ...functions,
      ...Object.keys(made),
      ...Object.keys(made.receipts),
      ...Object.keys(made.approvals),
      ...Object.keys(made.delegations),
    ]
    const [, table = ''] = /## The names\n([^]*?)\nMembers/.exec(text) ?? []
    for (const name of names) expect(table, name).toContain(name)
  })

  it('lists every error code of the client', () => {
    const source = readFileSync(new URL('../src/error.ts', import.meta.url), 'utf8')
    const [, union = ''] = /export type ClientErrorCode =\n([^]*?)\n\n/.exec(source) ?? []
    const codes = [...union.matchAll(/'([a-z-]+)'/g)].map(([, code = '']) => code)
    expect(codes.length).toBeGreaterThan(10)
    for (const code of codes) expect(text).toContain(`\`${code}\``)
  })
})
