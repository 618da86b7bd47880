// A real OpenID provider for tests, in a process of its own. Prints its address, and ends with its standard input. Everybody can
// sign in: the login form takes any name. Groups are in the name, after a plus: `olga+gate-operators`.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import process from 'node:process'
import Provider from 'oidc-provider'

/** A new signing key. */
function newKey(kid) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
}

/** A client that people use; MCP clients register themselves. */
const CONSOLE = {
  client_id: 'console',
  client_name: 'console',
  redirect_uris: ['http://127.0.0.1:1/callback'],
  response_types: ['code'],
  grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
}

const ROBOT = {
  client_id: 'robot',
  client_secret: 'robot-secret',
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
}

const configuration = {
  clients: [CONSOLE, ROBOT],
  jwks: { keys: [newKey('first')] },
  cookies: { keys: ['a key of the test'] },
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => process.env.RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'tools',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  scopes: ['openid', 'offline_access', 'tools'],
  extraTokenClaims: (_, { accountId = '' }) => ({ groups: accountId.split('+').slice(1) }),
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
}

const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const issuer = `http://127.0.0.1:${server.address().port}`
server.on('request', new Provider(issuer, configuration).callback())
process.stdout.write(`${issuer}\n`)
process.stdin.resume().on('end', () => process.exit())
