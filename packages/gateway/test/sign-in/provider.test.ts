// Sign-in with a real OpenID provider: an official MCP client finds it through the gateway, registers itself, and calls a tool
// for a person.

import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openGate, type Gate } from '../mcp/gate.ts'
import { signInAt, CALLBACK } from './person.ts'

const PROVIDER = fileURLToPath(new URL('provider.mjs', import.meta.url))
const SERVER = fileURLToPath(new URL('../mcp/crm-server.mjs', import.meta.url))

const POLICY = `
tollgate: 1
name: signed-in
principals: { "oidc:*": { tier: standard }, "agent:*": { tier: standard } }
tools: { "*": { effect: read, destinations: none } }
rules:
  - { id: people, allow: "crm/*", principal: "oidc:*" }
`

/** An MCP client in the hands of a person. */
class Claude implements OAuthClientProvider {
  readonly redirectUrl: string = CALLBACK
  readonly clientMetadata = {
    client_name: 'claude',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  information: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #verifier = ''
  /** The page that the client opens for the person. */
  page: URL | undefined

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.information
  }
  saveClientInformation(information: OAuthClientInformationMixed): void {
    this.information = information
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens
  }
  redirectToAuthorization(page: URL): void {
    this.page = page
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
}

let child: ChildProcess
let issuer: string
let gate: Gate

beforeAll(async () => {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  child = spawn(process.execPath, [PROVIDER], {
    env: { ...process.env, RESOURCE: resource },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // Sound: the first line is the address.
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  issuer = line.toString().trim()
  const signIn = { issuer, audience: resource, scope: 'tools', groups: 'groups', people: 'console' }
  const config = `sign-in: ${JSON.stringify({ ...signIn, roles: { 'gate-operators': 'operator' } })}\n`
  const servers = { crm: { command: [process.execPath, SERVER] } }
  gate = await openGate(servers, { policy: POLICY, port, config })
  await gate.meet('crm')
  await gate.pin('crm')
})
afterAll(async () => {
  child.stdin?.end()
  await gate.close()
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      // Sound: the server listens on TCP.
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function connect(claude: Claude): { client: Client; transport: StreamableHTTPClientTransport } {
  const transport = new StreamableHTTPClientTransport(new URL(`${gate.url}/mcp`), { authProvider: claude })
  return { client: new Client({ name: 'claude', version: '1' }), transport }
}

describe('with a real provider', () => {
  it('an official MCP client signs in for a person and calls a tool', async () => {
    const claude = new Claude()
    const first = connect(claude)
    await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError)
    expect(claude.page?.origin).toBe(issuer)
    await first.transport.finishAuth(await signInAt(claude.page ?? new URL(issuer), 'olga'))

    const { client, transport } = connect(claude)
    await client.connect(transport)
    const { tools } = await client.listTools()
    const [tool] = tools
    await client.callTool({ name: tool?.name ?? '', arguments: {} })
    await client.close()

    const name = (tool?.name ?? '').replace('__', '/')
    const [recorded] = await gate.record(name)
    const { client_id: id = '' } = claude.information ?? {}
    expect(recorded?.decision).toMatchObject({
      verdict: 'ALLOW',
      principal: `oidc:${id}/olga`,
      person: 'oidc-user:olga',
    })
  })

  it('a program gets a token for itself, and no person is behind it', async () => {
    const { access_token: token } = await post(`${issuer}/token`, {
      ...{
        grant_type: 'client_credentials',
        client_id: 'robot',
        client_secret: 'robot-secret',
        scope: 'tools',
      },
    })
    const status = await fetch(`${gate.url}/v1/status`, { headers: { authorization: `Bearer ${token}` } })
    expect(await status.json()).toMatchObject({ principal: 'oidc:robot/robot', role: 'agent' })
  })

  it('a person gets the role of a group, but not with an ID token', async () => {
    const verifier = 'v'.repeat(43)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const query = new URLSearchParams({
      ...{ client_id: 'console', response_type: 'code', redirect_uri: CALLBACK, scope: 'openid tools' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 's' },
    })
    const code = await signInAt(new URL(`${issuer}/auth?${query}`), 'otto+gate-operators')
    const { access_token: token, id_token: id } = await post(`${issuer}/token`, {
      ...{ grant_type: 'authorization_code', code, redirect_uri: CALLBACK },
      ...{ client_id: 'console', code_verifier: verifier },
    })
    const status = (bearer: string | undefined): Promise<Response> =>
      fetch(`${gate.url}/v1/status`, { headers: { authorization: `Bearer ${bearer}` } })
    expect(await (await status(token)).json()).toMatchObject({
      principal: 'oidc-user:otto+gate-operators',
      role: 'operator',
    })
    expect((await status(id)).status).toBe(401)
  })
})

async function post(url: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  // Sound: the endpoint answers with a JSON object of texts and numbers.
  return (await response.json()) as Record<string, string>
}
