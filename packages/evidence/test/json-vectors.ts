// Reads vector files: a text header, a line `---`, then the document.

import { readdirSync, readFileSync } from 'node:fs'

/** One case: its header fields by name, and its document, byte for byte. */
export interface Vector {
  readonly name: string
  readonly header: Readonly<Record<string, string>>
  readonly document: Uint8Array
}

const VERSION = 'tollgate vector v1\n'
const END = '\n---\n'

/** The folder of vectors with this name. */
export function vectorFolder(name: string): URL {
  return new URL(`../../../vectors/${name}/`, import.meta.url)
}

/** Every `.case` file of a folder, by name. Throws for a file that is not a vector. */
export function readVectors(folder: string): readonly Vector[] {
  const files = readdirSync(vectorFolder(folder)).filter((file) => file.endsWith('.case'))
  return files.sort().map((file) => readVector(folder, file))
}

function readVector(folder: string, file: string): Vector {
  const bytes = readFileSync(new URL(file, vectorFolder(folder)))
  const end = bytes.indexOf(END)
  const text = bytes.subarray(0, end).toString('utf8')
  if (end < 0 || !text.startsWith(VERSION)) throw new Error(`${file} is not a vector`)
  const fields = text.slice(VERSION.length).split('\n')
  return {
    name: file.slice(0, -'.case'.length),
    header: Object.fromEntries(fields.map((line) => readField(line, file))),
    document: new Uint8Array(bytes.subarray(end + END.length)),
  }
}

function readField(line: string, file: string): [string, string] {
  const colon = line.indexOf(': ')
  if (colon < 0) throw new Error(`${file} has a header line without a colon`)
  return [line.slice(0, colon), line.slice(colon + 2)]
}
