// The limits of a scan. Everything beyond them is unknown.

/** How much a scan may read. */
export interface Limits {
  readonly nodes: number
  /** UTF-16 units of text, attributes and comments. */
  readonly units: number
  readonly milliseconds: number
}

export const LIMITS: Limits = { nodes: 200_000, units: 4_000_000, milliseconds: 2_000 }

/** Counts what a scan has read. */
export interface Meter {
  /** Counts one node; false if the scan must stop. */
  node(): boolean
  /** Counts units of text; false if there are no more. */
  units(count: number): boolean
  readonly spent: boolean
}

const CHECK_EVERY = 256

export function createMeter({ nodes, units, milliseconds }: Limits): Meter {
  const end = performance.now() + milliseconds
  let [nodesLeft, unitsLeft] = [nodes, units]
  let spent = false
  return {
    node() {
      nodesLeft--
      if (nodesLeft < 0 || (nodesLeft % CHECK_EVERY === 0 && performance.now() > end)) spent = true
      return !spent
    },
    units(count) {
      unitsLeft -= count
      if (unitsLeft < 0) spent = true
      return !spent
    },
    get spent() {
      return spent
    },
  }
}
