import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig, type Config } from '../../src/config/config.ts'

const data = mkdtempSync(join(tmpdir(), 'tollgate-config-sign-in-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

function read(line: string): Config {
  writeFileSync(join(data, 'tollgate.yaml'), `tollgate: 1\nledger: tollgate.local/x\n${line}\n`)
  return readConfig(data)
}

function mistakes(line: string): string {
  try {
    read(line)
  } catch (fault) {
    const { hints } = fault as { hints: readonly string[] }
    return hints.map((hint) => hint.replace(/^.*yaml:/, '')).join('\n')
  }
  return ''
}

const NEEDED = 'issuer: "https://login.example.com/", audience: "https://gate.example.com/mcp"'

describe('`sign-in` in the configuration', () => {
  it('needs an issuer and an audience', () => {
    expect(read(`sign-in: { ${NEEDED} }`).signIn).toEqual({
      issuer: 'https://login.example.com/',
      audience: ['https://gate.example.com/mcp'],
      scope: undefined,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      principal: '{client}/{sub}',
      person: ['sub'],
      groups: undefined,
      roles: new Map(),
      people: [],
      emails: 'hidden',
    })
    expect(read('').signIn).toBeUndefined()
  })

  it('reads all settings', () => {
    const roles = '{ ops: operator, ci: host }'
    const more = `scope: tools, algorithms: [ES256], principal: "{tid}/{client}", person: oid, emails: clear`
    const { signIn } = read(
      `sign-in: { issuer: "http://127.0.0.1:9", audience: [a, b], ${more}, groups: [realm_access, roles], roles: ${roles}, people: console }`,
    )
    expect(signIn).toEqual({
      ...{ issuer: 'http://127.0.0.1:9', audience: ['a', 'b'], scope: 'tools', algorithms: ['ES256'] },
      ...{ principal: '{tid}/{client}', person: ['oid'], groups: ['realm_access', 'roles'], emails: 'clear' },
      roles: new Map([
        ['ops', 'operator'],
        ['ci', 'host'],
      ]),
      people: ['console'],
    })
  })

  it.each([
    ['{}', 'needs `issuer` and `audience`'],
    ['{ issuer: "https://a.example" }', 'needs `issuer` and `audience`'],
    ['{ issuer: "http://login.example.com", audience: a }', '`https://` URL'],
    ['{ issuer: "https://user:pw@login.example.com", audience: a }', 'must not contain a user name'],
    ['{ issuer: "https://login.example.com/?a", audience: a }', 'without `?`'],
    ['{ issuer: "https://login.example.com", audience: [] }', '`audience` must not be empty'],
    [`{ ${NEEDED}, algorithms: [HS256] }`, 'must be one of `RS256`, `PS256`, `ES256`, `EdDSA`'],
    [`{ ${NEEDED}, algorithms: [none] }`, 'must be one of'],
    [`{ ${NEEDED}, algorithms: [] }`, 'must not be empty'],
    [`{ ${NEEDED}, scope: "a b" }`, 'one scope'],
    [`{ ${NEEDED}, principal: "agent" }`, 'one to four claims'],
    [`{ ${NEEDED}, principal: "{client}-{sub}" }`, 'with a `/` between'],
    [`{ ${NEEDED}, principal: "{client}{sub}" }`, 'with a `/` between'],
    [`{ ${NEEDED}, principal: "{client}/*" }`, 'one to four claims'],
    [`{ ${NEEDED}, person: [a, b, c, d, e] }`, 'name of a claim'],
    [`{ ${NEEDED}, roles: { a: agent } }`, '`roles` needs `groups`'],
    [`{ ${NEEDED}, groups: g, roles: { a: root } }`, 'must be one of `agent`'],
    [`{ ${NEEDED}, groups: g, roles: { a: operator } }`, '`operator` is for people: add `people`'],
    [`{ ${NEEDED}, groups: g, roles: { a: metrics } }`, 'add `people`'],
    [`{ ${NEEDED}, emails: shown }`, '`hidden`, `clear`'],
    [`{ ${NEEDED}, secret: x }`, '`secret` is not known here'],
  ])('reports the mistake in %s', (signIn, message) => {
    expect(mistakes(`sign-in: ${signIn}`)).toContain(message)
  })
})

describe('`cors` in the configuration', () => {
  it('lists origins', () => {
    const origins = ['https://app.example.com', 'http://localhost:5173', 'https://app.example.com:8443']
    expect(read(`cors: ${JSON.stringify(origins)}`).cors).toEqual(origins)
    expect(read('').cors).toEqual([])
  })

  it.each([
    ...['*', 'null', 'https://*.example.com', 'https://app.example.com/', 'https://APP.example.com'],
    ...[
      'https://app.example.com:443',
      'http://app.example.com',
      'app.example.com',
      'https://u:p@app.example.com',
    ],
  ])('refuses %s', (origin) => {
    expect(mistakes(`cors: [${JSON.stringify(origin)}]`)).toContain('exactly as browsers send it')
  })
})
