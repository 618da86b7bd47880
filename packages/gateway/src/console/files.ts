// The files of the console's page, as the build has written them. They are small, so they stay in memory.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reply } from '../exchange.ts'

interface PageFile {
  readonly type: string
  readonly plain: Uint8Array
  /** The same, compressed by the build; undefined if compressing does not pay. */
  readonly gzip: Uint8Array | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The folder that `npm run build` writes. */
const BUILT: string = fileURLToPath(new URL('../../console/', import.meta.url))

/** The page, and nothing else: no inline script, no request to another host, no frame, no form, no markup from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
/** The name of a file contains the hash of its contents. */
const ASSET_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }

/** Reads the built files. Without a build there are none. */
export function readPageFiles(folder: string = BUILT): ReadonlyMap<string, PageFile> {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)]
      if (type === undefined) return []
      const gzip = names.includes(`${name}.gz`) ? readFileSync(`${folder}/${name}.gz`) : undefined
      return [[name, { type, plain: readFileSync(`${folder}/${name}`), gzip }] as const]
    }),
  )
}

/** The reply with a file; undefined if there is no such file. */
export function fileReply(
  files: ReadonlyMap<string, PageFile>,
  name: string,
  encodings: string | undefined,
): Reply | undefined {
  const file = files.get(name)
  if (!file) return undefined
  const { type, plain, gzip } = file
  const packed = gzip && /\bgzip\b/.test(encodings ?? '') ? gzip : undefined
  const bytes = packed ?? plain
  const headers = {
    ...(name === 'index.html' ? PAGE_HEADERS : ASSET_HEADERS),
    'content-type': type,
    vary: 'accept-encoding',
    ...(packed && { 'content-encoding': 'gzip' }),
    'content-length': String(bytes.length),
  }
  return { status: 200, headers, body: once(bytes) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}
