// Reads `limits` of `tollgate.yaml`.

import { BUDGET, type BudgetLimits } from '../budget.ts'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { readMeasure } from './value.ts'

/** The limits of one caller. */
export interface CallerLimits {
  readonly body: number
  readonly connections: number
  /** Bytes that the gateway reads for one principal: per second, and as a burst. */
  readonly reading: BudgetLimits
  /** Bytes stored for one principal per day (UTC); null for no limit. */
  readonly storage: number | null
}

// The default of the kernel. It is repeated here because fast commands read the configuration without loading the kernel.
const STORAGE = 2 ** 30
const SIZES = { KiB: 1 << 10, MiB: 1 << 20 }

/** Reads `limits`. Missing values get their defaults. */
export function readLimits(reader: Reader, place: Place | undefined): CallerLimits {
  const { body, connections, reading, storage } =
    (place && reader.fields(place, ['body', 'connections', 'reading', 'storage'])) ?? {}
  const form = {
    what: '`body`',
    units: SIZES,
    least: 1 << 10,
    most: 64 << 20,
    example: 'a size such as `256KiB` or `1MiB`, from 1KiB to 64MiB',
  }
  return {
    body: (body && readMeasure(reader, body, form)) ?? 1 << 20,
    connections: (connections && reader.whole(connections, '`connections`', 1, 65_535)) ?? 1024,
    reading: reading ? readReading(reader, reading) : BUDGET,
    storage: storage ? readStorage(reader, storage) : STORAGE,
  }
}

function readStorage(reader: Reader, place: Place): number | null {
  const text = reader.textLine(place, '`storage`')
  if (text === undefined) return STORAGE
  if (text === 'off') return null
  const form = {
    what: '`storage`',
    units: { MiB: 1 << 20, GiB: 1 << 30, TiB: 2 ** 40 },
    least: 16 << 20,
    most: 2 ** 50,
    example: '`off`, or the storage of one principal per day, such as `1GiB`, from 16MiB to 1024TiB',
  }
  return readMeasure(reader, place, form) ?? STORAGE
}

function readReading(reader: Reader, place: Place): BudgetLimits {
  const { rate, burst } = reader.fields(place, ['rate', 'burst']) ?? {}
  const size = (at: Place | undefined, what: string): number | undefined =>
    at && readMeasure(reader, at, { what, units: SIZES, least: 64 << 10, most: 1 << 30, example: READING })
  return { rate: size(rate, '`rate`') ?? BUDGET.rate, burst: size(burst, '`burst`') ?? BUDGET.burst }
}

const READING = 'a size such as `1MiB`, from 64KiB to 1024MiB'
