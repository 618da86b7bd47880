// The tests in Python, in one process; and what the client for Python repeats of the gateway.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REASONS } from '../../evidence/src/index.ts'
import { clientPython, PACKAGE, PYTHON_ENV } from '../../../tools/compat/python.ts'

const python = clientPython()

describe('the client for Python', () => {
  it.skipIf(python === undefined)('passes its tests in Python', () => {
    const args = ['-m', 'unittest', 'discover', '-s', `${PACKAGE}test`]
    const { stderr, status } = spawnSync(python ?? '', args, {
      env: PYTHON_ENV,
      encoding: 'utf8',
      timeout: 200_000,
    })
    expect(status, stderr).toBe(0)
    expect(stderr).toMatch(/Ran \d\d tests/)
  })

  it.skipIf(python === undefined)(
    'is packed as a wheel with all of its sources, always in the same bytes',
    () => {
      const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'tollgate-wheel-')))
      const wheels = folders.map((folder) => {
        const built = spawnSync('python3', ['-B', `${PACKAGE}wheel_backend.py`, folder], { encoding: 'utf8' })
        expect(built.stderr).toBe('')
        return readFileSync(join(folder, built.stdout.trim()))
      })
      expect(wheels[1]).toEqual(wheels[0])
      const sources = readdirSync(`${PACKAGE}src/tollgate`).filter((name) => name !== '__pycache__')
      expect(sources).toContain('py.typed')
      for (const name of [...sources, 'METADATA', 'RECORD', 'LICENSE'])
        expect(wheels[0]?.includes(`/${name}`), name).toBe(true)
      for (const folder of folders) rmSync(folder, { recursive: true })
    },
  )

  it('runs a tool for exactly the reasons that allow a call', () => {
    const source = readFileSync(`${PACKAGE}src/tollgate/calls.py`, 'utf8')
    const [, listed = ''] = /ALLOWING = frozenset\(\{(.*?)\}\)/.exec(source) ?? []
    const allowing = Object.entries(REASONS).flatMap(([code, { verdict }]) =>
      verdict === 'ALLOW' ? [code] : [],
    )
    expect([...listed.matchAll(/"(\w+)"/g)].map(([, code]) => code).sort()).toEqual(allowing.sort())
  })
})
