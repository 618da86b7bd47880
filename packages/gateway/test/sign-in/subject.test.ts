import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@tollgate/evidence'
import { SignInRefusal } from '../../src/sign-in/refusal.ts'
import { subjectOf, type Subject } from '../../src/sign-in/subject.ts'
import { CLAIMS, CONFIG } from './issuer.ts'

function subject(claims: JsonObject, config: Partial<typeof CONFIG> = {}): Subject | string {
  try {
    return subjectOf({ ...CLAIMS, ...claims }, { ...CONFIG, ...config })
  } catch (fault) {
    if (fault instanceof SignInRefusal) return fault.message
    throw fault
  }
}

const AGENT = { role: 'agent', principal: 'oidc:claude/olga', person: 'oidc-user:olga', groups: [] }

describe('a subject', () => {
  it('is the client with the person behind it', () => {
    expect(subject({})).toEqual(AGENT)
    expect(subject({ client_id: undefined as never, azp: 'claude' })).toEqual(AGENT)
  })

  it.each([
    ['its own name', { sub: 'claude' }],
    ['the form of Auth0', { sub: 'claude@clients' }],
    ['a grant', { gty: 'client-credentials' }],
    ['a type', { idtyp: 'app' }],
    ['a service account of Keycloak', { preferred_username: 'service-account-claude' }],
  ])('has no person if the client acts for itself: %s', (_, claims) => {
    expect(subject(claims)).toMatchObject({ role: 'agent', person: undefined })
  })

  it('is the person if the client is one that people use', () => {
    const own = {
      role: 'operator',
      principal: 'oidc-user:olga',
      person: undefined,
      groups: ['gate-operators'],
    }
    expect(subject({ client_id: 'console', groups: ['staff', 'gate-operators'] })).toEqual(own)
    expect(subject({ client_id: 'console' })).toMatchObject({ role: 'agent', principal: 'oidc-user:olga' })
  })

  it('never gets more than the role `host` through an agent', () => {
    const groups = ['gate-operators', 'gate-admins']
    expect(subject({ groups })).toEqual({ ...AGENT, groups })
    expect(subject({ groups: ['hosts', 'gate-admins'] })).toMatchObject({ role: 'host' })
    // The client of a person, used by an agent in exchange.
    expect(subject({ client_id: 'console', act: { sub: 'claude' }, groups })).toMatchObject({
      role: 'agent',
      principal: 'oidc:console/olga',
      person: 'oidc-user:olga',
    })
    expect(subject({ client_id: 'console', sub: 'console', groups })).toMatchObject({ role: 'agent' })
  })

  it('gets the role of its first listed group, and no other groups', () => {
    const claims = { client_id: 'console', groups: ['gate-admins', 'x', 'gate-operators'] }
    expect(subject(claims)).toMatchObject({ role: 'operator', groups: ['gate-operators', 'gate-admins'] })
    expect(subject({ client_id: 'console', groups: 'gate-admins' })).toMatchObject({ role: 'admin' })
    for (const groups of [
      ['admin'],
      ['GATE-ADMINS'],
      [['gate-admins']],
      { 'gate-admins': true },
      'x',
      null,
    ]) {
      expect(subject({ client_id: 'console', groups })).toMatchObject({
        role: 'agent',
        groups: [],
      })
    }
  })

  it('reads nested claims and other templates', () => {
    const config = { groups: ['realm_access', 'roles'], person: ['oid'], principal: '{tid}/{actor}' }
    const claims = { realm_access: { roles: ['hosts'] }, oid: 'o1', tid: 42, act: { sub: 'planner' } }
    expect(subject(claims, config)).toEqual({
      ...{ role: 'host', principal: 'oidc:42/planner', person: 'oidc-user:o1', groups: ['hosts'] },
    })
    expect(subject(claims, { principal: '{constructor}' })).toContain('has no `constructor`')
  })

  it.each([
    ['two clients', { azp: 'other' }, 'names two clients'],
    ['a client that is no text', { client_id: ['claude'] }, 'is not text'],
    ['no client', { client_id: undefined as never }, 'has no `client`'],
    ['a name that is too long', { sub: 'x'.repeat(300) }, 'too long'],
  ])('is refused: %s', (_, claims, why) => {
    expect(subject(claims)).toContain(why)
  })

  it('has another name for other values: a value cannot imitate the template', () => {
    const pairs = [
      ...[
        ['a', 'b/c'],
        ['a/b', 'c'],
        ['a%2Fb', 'c'],
        ['a', 'b%2Fc'],
        ['A', 'b/c'],
      ],
      ...[
        ['*', '*'],
        ['~', 'x'],
        ['a', 'e\u0301'],
        ['a', '\u00e9'],
        ['a', ' b'],
        ['a', 'b\n'],
      ],
    ]
    const names = pairs.map(([client = '', sub = '']) => subject({ client_id: client, sub }))
    const principals = names.map((name) => (typeof name === 'string' ? name : name.principal))
    expect(new Set(principals).size).toBe(pairs.length)
    for (const name of principals) expect(name).toMatch(/^oidc:[^/*~]+\/[^/*~]+$/)
  })

  it('shows an e-mail address only if the configuration says so', () => {
    const shown = JSON.stringify(subject({ sub: 'olga@example.com' }))
    expect(shown).not.toContain('olga')
    expect(shown).toMatch(/"oidc:claude\/~[0-9a-f]{32}"/)
    expect(subject({ sub: 'olga@example.com' }, { emails: 'clear' })).toMatchObject({
      principal: 'oidc:claude/olga@example.com',
      person: 'oidc-user:olga@example.com',
    })
  })
})
