// The shorthand in which the tables of the published servers are written.

import type { BrowserTool } from './adapters.ts'

/** Reads the page. */
export const READS: BrowserTool = { effect: 'read', acts: 'page', elements: [], refused: [] }
/** Changes the browser and not the page: its tabs, its window. */
export const MANAGES: BrowserTool = { ...READS, acts: 'browser' }
/** Changes the page, or something behind it. */
export const WRITES: BrowserTool = { ...READS, effect: 'write' }
/** Acts at a place of the window. */
export const BLIND: BrowserTool = { ...WRITES, blind: true }
/** Gives files to the page. */
export const UPLOADS: BrowserTool = { ...WRITES, files: true }
/** Runs code of the agent in the page. */
export const EXECUTES: BrowserTool = { ...READS, effect: 'execute' }
/** Opens an address. A read, as the domains of the policy bound it, and a page that it opens is observed. */
export const OPENS: BrowserTool = { ...READS, acts: 'navigation', address: 'url' }

/** A row with the arguments that name elements. */
export function on(row: BrowserTool, ...elements: readonly string[]): BrowserTool {
  return { ...row, elements }
}

/** A row with arguments that are refused. */
export function without(row: BrowserTool, ...refused: readonly string[]): BrowserTool {
  return { ...row, refused }
}
