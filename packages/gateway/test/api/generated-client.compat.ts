// A client that is generated from the OpenAPI document: it compiles, decides a call and exports a pack.

import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { newFolder } from '../gateway-rig.ts'
import { openLlmGate } from '../llm/gate.ts'

const MODULES = fileURLToPath(new URL('../../../../compat/node_modules', import.meta.url))
const run = promisify(execFile)

const PROGRAM = `
import createClient from 'openapi-fetch'
import type { paths } from './gateway.js'

declare const process: { readonly env: Readonly<Record<string, string>> }
declare const Buffer: { from(bytes: ArrayBuffer): { toString(encoding: 'base64'): string } }
const { URL: baseUrl, AGENT, AUDITOR } = process.env
const bearer = (token: string | undefined) => ({ authorization: \`Bearer \${token}\` })
const { POST } = createClient<paths>({ baseUrl: baseUrl ?? '', headers: bearer(AGENT) })
for (const tool of ['read_note', 'send_mail']) {
  const { data, error } = await POST('/v1/evaluate', { body: { tool, arguments: { name: 'list' }, session_id: 's1' } })
  if (!data) throw new Error(JSON.stringify(error))
  console.log(data.verdict)
}
const { GET } = createClient<paths>({ baseUrl: baseUrl ?? '', headers: bearer(AUDITOR) })
const { data: pack, response } = await GET('/v1/evidence/export', { params: { query: { from: 0 } }, parseAs: 'arrayBuffer' })
if (!pack) throw new Error('no pack')
console.log(response.headers.get('content-type'))
console.log(Buffer.from(pack).toString('base64'))
`

test('a generated client decides calls and exports a pack', async () => {
  const gate = await openLlmGate({ upstream: 'http://127.0.0.1:9' })
  onTestFinished(() => gate.close())
  const folder = newFolder()
  symlinkSync(MODULES, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const described = await fetch(`${gate.url}/openapi.json`)
  writeFileSync(join(folder, 'openapi.json'), await described.text())
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  const tool = (path: string, ...args: readonly string[]): ReturnType<typeof run> =>
    run(process.execPath, [join(MODULES, path), ...args], { cwd: folder })
  await tool('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'gateway.ts')
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom']
  await tool('typescript/bin/tsc', ...strict, '--skipLibCheck', 'program.ts').catch((fault: unknown) => {
    // The compiler prints its errors to standard output.
    throw new Error(fault instanceof Error && 'stdout' in fault ? String(fault.stdout) : String(fault))
  })

  const who = { role: 'auditor', tenant: 'default', principal: 'user:aude' } as const
  const { token: AUDITOR } = await gate.running.gateway.tokens.issue(who, 'test')
  const env = { URL: gate.url, AGENT: gate.token, AUDITOR }
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env })
  const [allowed, denied, type, pack = ''] = stdout.split('\n')
  expect([allowed, denied, type]).toEqual(['ALLOW', 'DENY', 'application/x-tar'])
  writeFileSync(join(folder, 'all.pack'), Buffer.from(pack, 'base64'))

  const command = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
  const own = { ...process.env, TOLLGATE_DATA: gate.data }
  const { stdout: trust } = await run(process.execPath, [command, 'keys', 'trust'], { env: own })
  writeFileSync(join(folder, 'trust.json'), trust)
  const verify = ['verify', 'all.pack', '--trust', 'trust.json']
  const { stdout: report } = await run(process.execPath, [command, ...verify], { cwd: folder, env: own })
  expect(report).toContain('VERIFIED')
  expect(report).toContain('decisions: 1 ALLOW, 1 DENY')
  saw(npm('openapi-typescript', 'with openapi-fetch'), 'HTTP', 'allowed', 'denied')
})
