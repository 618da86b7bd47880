// Finds the tool that a call names. Everything behind this step uses only canonical names.

import type { Catalogue } from '../admin/catalogue.ts'
import type { Policy } from '../policy/parse/parse.ts'
import type { Intent } from './capture.ts'

/** Returns a call under the canonical name of its tool. An ambiguous name is that of no tool: the kernel never guesses. */
export function underCanonicalName(catalogue: Catalogue, policy: Policy, intent: Intent): Intent {
  const [only = intent.tool, ...others] = catalogue.meant(intent.tool, policy)
  if (others.length > 0) return { ...intent, offered: null, unclear: [only, ...others] }
  return only === intent.tool ? intent : { ...intent, tool: only }
}
