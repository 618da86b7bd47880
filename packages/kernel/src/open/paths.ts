// The paths that a door resolves before it sends a call.

import { knownAs } from '../admin/catalogue.ts'
import { DETECTORS } from '../gates/index.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import { capture, type ToolCall } from '../road/capture.ts'
import { underCanonicalName } from '../road/naming.ts'

/**
 * Returns the paths that a call names, absolute where its place has the directories that they start from, without duplicates. The door
 * resolves them and adds their real paths to the place of the call.
 */
export function pathsNamed(kernel: Kernel, call: ToolCall): readonly string[] {
  const captured = capture(call)
  if (captured.unreadable !== undefined) return []
  const policy = policyOf(kernel, captured.tenant)
  const intent = underCanonicalName(kernel.catalogue, policy, captured)
  const tool = knownAs(kernel.catalogue.find(intent.tool, policy), intent)
  return DETECTORS.shell.paths(tool?.declared?.factsFrom, intent.args, intent.place)
}
