// Reads `browser` of `tollgate.yaml`: the browsers that the gateway starts for browser servers.

import { resolve } from 'node:path'
import type { Place, Reader } from '@tollgate/kernel/policy'

/** How the gateway starts browsers. */
export interface BrowserConfig {
  /** Without a window. */
  readonly headless: boolean
  /** Absolute path of a Chromium; undefined: TOLLGATE_BROWSER, or the first on the PATH. */
  readonly executable: string | undefined
  /** The browser connects anywhere. Receipts say so. */
  readonly withoutEgress: boolean
}

/** Reads the section. Paths are relative to `data`. */
export function readBrowserConfig(reader: Reader, place: Place | undefined, data: string): BrowserConfig {
  const names = ['headless', 'executable', 'without-egress'] as const
  const fields = (place && reader.fields(place, names)) ?? {}
  const { headless, executable, 'without-egress': open } = fields
  const path = executable && reader.textLine(executable, '`executable`')
  return {
    headless: (headless && reader.flag(headless, '`headless`')) ?? true,
    executable: path === undefined ? undefined : resolve(data, path),
    withoutEgress: (open && reader.flag(open, '`without-egress`')) ?? false,
  }
}
