// Decides which gateway a command acts on, in the same order for every command: `--url` or `--data` on the command line, then
// TOLLGATE_URL, then TOLLGATE_DATA, then the default data directory.

import type { GatewayOptions } from '../commands.ts'
import type { NamedGateway } from './runnable.ts'
import { UsageError } from './terminal.ts'

/** Where the value of an option comes from, as commander says it: `cli` is the command line, `env` a variable. */
type SourceOf = (name: keyof NamedGateway) => string | undefined

/**
 * Returns the options with at most one way to a gateway: with `url`, the command acts on that gateway, otherwise on a data directory.
 *
 * @throws UsageError if the command line names both, or one without a value.
 */
export function chooseGateway<O extends GatewayOptions>(given: O, sourceOf: SourceOf): O {
  const { url, data, ca, ...others } = given
  if (sourceOf('url') === 'cli' && sourceOf('data') === 'cli') {
    throw new UsageError('`--url` and `--data` each name a gateway', 'give only one of them')
  }
  refuseEmpty('url', url, sourceOf)
  refuseEmpty('data', data, sourceOf)
  refuseEmpty('ca', ca, sourceOf)
  const chosen = {
    ...others,
    ...(isSet(url) && sourceOf('data') !== 'cli' && { url }),
    ...(isSet(data) && { data }),
    ...(isSet(ca) && { ca }),
  }
  // Sound: these three are optional, and nothing else was removed.
  return chosen as unknown as O
}

/** An empty variable counts as not set. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** `--data "$UNSET"` must not mean the current directory. */
function refuseEmpty(name: keyof NamedGateway, value: string | undefined, sourceOf: SourceOf): void {
  if (value === '' && sourceOf(name) === 'cli') {
    throw new UsageError(`\`--${name}\` has no value`, `give one, or leave \`--${name}\` out`)
  }
}

/** Returns what the user typed. A variable is in the user's shell already, so printed commands need not repeat it. */
export function typedGateway({ data, url, ca }: GatewayOptions, sourceOf: SourceOf): NamedGateway {
  return {
    ...(data !== undefined && sourceOf('data') === 'cli' && { data }),
    ...(url !== undefined && sourceOf('url') === 'cli' && { url }),
    ...(ca !== undefined && sourceOf('ca') === 'cli' && { ca }),
  }
}
