// Tells clients where to get access tokens: the metadata of a protected resource (RFC 9728), for the API and for the MCP door.

import type { Door, DoorRequest, Reply } from '../exchange.ts'

/** The path of the metadata. The path of the resource follows. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** The paths of resources. */
export const RESOURCE_PATH: RegExp = /^(?:\/mcp(?:\/[a-z0-9][a-z0-9_-]{0,31})?)?$/

/** Answers for the metadata. It is public, and the same for every caller. */
export function createMetadataDoor(): Door {
  return {
    name: 'sign-in',
    answer: (asked) => Promise.resolve(answer(asked)),
    end: () => undefined,
    close: () => Promise.resolve(),
  }
}

function answer({ method, path, signIn }: DoorRequest): Reply | undefined {
  const resource = path.startsWith(METADATA_PATH) ? path.slice(METADATA_PATH.length) : undefined
  if (!signIn || resource === undefined || !RESOURCE_PATH.test(resource)) return undefined
  if (method !== 'GET') return { status: 405, headers: { allow: 'GET' }, body: '' }
  const { origin, issuer, scope } = signIn
  const metadata = {
    resource: origin + resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    ...(scope !== undefined && { scopes_supported: [scope] }),
    resource_name: 'Tollgate',
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(metadata) }
}
