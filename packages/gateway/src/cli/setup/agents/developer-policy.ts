// The policy for developers, which is part of the package.

import { fileURLToPath } from 'node:url'

/** The path of `examples/policies/developer.yaml` in the package. `npm run build` copies it, with its cases. */
export const DEVELOPER_POLICY: string = fileURLToPath(
  new URL('../../../../bundle/developer.yaml', import.meta.url),
)
