// The published MCP browser servers: every tool of them, and how the gateway leads each to its browser.

import type { EffectClass } from '@tollgate/evidence'
import type { ToolCall } from '@tollgate/kernel'
import { DEVTOOLS } from './devtools.ts'
import { PLAYWRIGHT } from './playwright.ts'

/** The published servers: `@playwright/mcp` and `chrome-devtools-mcp`. */
export const ADAPTERS = ['playwright', 'devtools'] as const
/** One of the published servers. */
export type AdapterName = (typeof ADAPTERS)[number]

/** The knowledge of a gateway that drives the browser about a call. */
export type GuardedPage = NonNullable<ToolCall['guarded']>

/** One tool of a server. */
export interface BrowserTool {
  readonly effect: EffectClass
  /** The thing that it acts on, unless an address says that it opens one. */
  readonly acts: GuardedPage['acts']
  /** Where its arguments name elements: `uid`, or `fields[].target` for each item of a list. */
  readonly elements: readonly string[]
  /** The argument with the address that it opens. */
  readonly address?: string
  /** The argument that says where it goes in the history; `back` if it always goes back. */
  readonly history?: 'type' | 'back'
  /** It acts at a place of the window, whatever is there. */
  readonly blind?: true
  /** It gives files to the page. */
  readonly files?: true
  /** Arguments that would go around the gateway. A call with one of them is denied. */
  readonly refused: readonly string[]
}

/** The address of a browser, and the headers that a client must send to use it. */
interface BrowserAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** How a server is started. */
export interface Launch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A folder for one server process, which other users cannot read. It is removed with the process. */
export interface PrivateFolder {
  readonly path: string
  /** Stores a text in a file and returns its path. */
  keep(name: string, text: string): string
}

/** One published server. */
export interface Adapter {
  readonly name: AdapterName
  /** The name of its package. */
  readonly package: string
  /** The names of its programs. */
  readonly programs: readonly string[]
  /** Its tools by name. A tool without a row is not offered to agents. */
  readonly tools: ReadonlyMap<string, BrowserTool>
  /** The argument that names the page, if calls name one. */
  readonly page?: string
  /** Options that would take another browser, or run code beside the page. They are refused. */
  readonly refusedOptions: readonly string[]
  /** Begins the names of its environment variables. They could do what refused options do, so they are removed. */
  readonly variables: RegExp
  /** The arguments and variables that lead the server to our browser. */
  launch(address: BrowserAddress, folder: PrivateFolder): Launch
}

const ALL: Readonly<Record<AdapterName, Adapter>> = { playwright: PLAYWRIGHT, devtools: DEVTOOLS }

/** Returns what the gateway knows of a server. */
export function adapterOf(name: AdapterName): Adapter {
  return ALL[name]
}

/** Recognises a published server by the words of its command; undefined for another program. */
export function recogniseAdapter(words: readonly string[]): AdapterName | undefined {
  return ADAPTERS.find((name) => words.some((word) => isPackage(word, ALL[name])))
}

/** Whether a word is a package, with or without a version, a path into it, or one of its programs. */
function isPackage(word: string, { package: name, programs }: Adapter): boolean {
  const program = word.replace(/^.*[/\\]/, '').replace(/\.(?:cmd|ps1|exe)$/, '')
  if (word === name || word.startsWith(`${name}@`) || (programs.includes(program) && !word.startsWith('@')))
    return true
  return word.replaceAll('\\', '/').includes(`/node_modules/${name}/`)
}

/** The first refused option among the arguments of a server; undefined if there is none. */
export function refusedOption({ refusedOptions }: Adapter, args: readonly string[]): string | undefined {
  return args.find((word) => refusedOptions.includes(plainOption(word)))
}

/** An option without its value, dashes and the spelling of its case: `--cdpEndpoint=x` is `cdpendpoint`. */
function plainOption(word: string): string {
  return word.startsWith('-') ? word.replace(/=.*$/s, '').replaceAll('-', '').toLowerCase() : ''
}
