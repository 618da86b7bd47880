// Reads the HTML of a file or an address, within limits.

import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const MAX_BYTES = 32 << 20
const TIMEOUT = 30_000

/** The HTML of a page. Rejects if it cannot be read, is too large, or is not HTML. */
export async function readPage({
  url,
  isFile,
}: {
  readonly url: string
  readonly isFile: boolean
}): Promise<string> {
  return decoded(isFile ? await fileBytes(fileURLToPath(url)) : await networkBytes(url))
}

async function fileBytes(path: string): Promise<Uint8Array> {
  const file = await open(path).catch((fault: unknown) => {
    // Sound: the member is tested before use.
    const { code } = fault as NodeJS.ErrnoException
    throw new Error(
      code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code ?? 'unknown'})`,
    )
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new Error('it is not a file')
    if (stat.size > MAX_BYTES) throw new Error(tooLarge())
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function networkBytes(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) }).catch((fault: unknown) => {
    const cause: unknown = fault instanceof Error ? fault.cause : undefined
    throw new Error(`the page could not be opened: ${cause instanceof Error ? cause.message : String(fault)}`)
  })
  const type = response.headers.get('content-type') ?? 'text/html'
  if (!/html|xml|text\/plain/i.test(type)) throw new Error(`it is not HTML but \`${type.slice(0, 64)}\``)
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    // Sound: the body of a response consists of bytes.
    const bytes = part.value as Uint8Array
    size += bytes.length
    if (size > MAX_BYTES) throw new Error(tooLarge())
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

function tooLarge(): string {
  return `it is larger than ${MAX_BYTES >> 20} MiB`
}

const CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)/i

/** Decodes by byte order mark, else by what the page states, else as UTF-8. */
function decoded(bytes: Uint8Array): string {
  if ((bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0xff && bytes[1] === 0xfe)) {
    return new TextDecoder(bytes[0] === 0xfe ? 'utf-16be' : 'utf-16le').decode(bytes)
  }
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024))
  const stated = CHARSET.exec(head)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(stated).decode(bytes)
  } catch {
    // An unknown name.
    return new TextDecoder().decode(bytes)
  }
}
