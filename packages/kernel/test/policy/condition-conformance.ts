// Runs the conformance tests of the CEL specification with the reader and compiler.

import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { compile } from '../../src/policy/cel/compile.ts'
import { Exhausted, Failure, Refused } from '../../src/policy/cel/failure.ts'
import { Frame } from '../../src/policy/cel/frame.ts'
import { createReader } from '../../src/policy/cel/reader.ts'
import { parseDuration, parseTimestamp } from '../../src/policy/cel/time.ts'
import {
  Bytes,
  Entries,
  isList,
  isMap,
  keysOfMap,
  lookUp,
  typeOf,
  TypeName,
  Uint,
} from '../../src/policy/cel/value.ts'
import type { CelValue } from '../../src/policy/cel/value.ts'

/** One test: an expression with its expected result. */
export interface ConformanceTest {
  readonly file: string
  /** `file/section/name`, with `#2` for the second of a name. */
  readonly id: string
  readonly original: Original
}

/** The result of a test. Only `wrong` is never acceptable: a value that is not the expected one. */
export type Outcome = 'right' | 'refused' | 'failed' | 'wrong'

interface Original {
  readonly name?: string
  readonly expr: string
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly container?: string
  readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: ProtoType } }[]
  readonly bindings?: Readonly<Record<string, { readonly value: ProtoValue }>>
  readonly value?: ProtoValue
  readonly typedResult?: { readonly result?: ProtoValue }
  readonly evalError?: unknown
}

interface ProtoType {
  readonly primitive?: string
  readonly messageType?: string
  readonly listType?: { readonly elemType: ProtoType }
  readonly mapType?: { readonly keyType: ProtoType; readonly valueType: ProtoType }
  readonly null?: null
}

interface ProtoValue {
  readonly boolValue?: boolean
  readonly int64Value?: string
  readonly uint64Value?: string
  readonly doubleValue?: number | string
  readonly stringValue?: string
  readonly bytesValue?: string
  readonly typeValue?: string
  readonly nullValue?: null
  readonly listValue?: { readonly values?: readonly ProtoValue[] }
  readonly mapValue?: {
    readonly entries?: readonly { readonly key: ProtoValue; readonly value: ProtoValue }[]
  }
  readonly objectValue?: { readonly '@type': string; readonly value?: string }
}

export function conformanceTests(): readonly ConformanceTest[] {
  const seen = new Map<string, number>()
  return (tests.suites ?? []).flatMap((file) =>
    (file.suites ?? []).flatMap((section) =>
      (section.tests ?? []).map((test) => {
        // Safe cast: this is the JSON form of `SimpleTest`, which has the fields above.
        const original = test.original as unknown as Original
        const name = `${file.name}/${section.name}/${original.name ?? original.expr}`
        const count = (seen.get(name) ?? 0) + 1
        seen.set(name, count)
        return { file: file.name, id: count === 1 ? name : `${name}#${count}`, original }
      }),
    ),
  )
}

/** Runs a test. A refusal at load or a failure at run time is right if the test expects an error. */
export function outcomeOf({ original }: ConformanceTest): Outcome {
  const { evalError, value, typedResult, checkOnly } = original
  const result = resultOf(original)
  if (typeof result === 'string') return evalError === undefined ? result : 'right'
  const expected = value ?? typedResult?.result
  if (checkOnly === true) return 'right'
  if (evalError !== undefined) return 'wrong'
  return expected === undefined || show(result.value) === show(valueOf(expected)) ? 'right' : 'wrong'
}

function resultOf(original: Original): 'refused' | 'failed' | { readonly value: CelValue } {
  try {
    return { value: evaluate(original) }
  } catch (error) {
    if (error instanceof Refused) return 'refused'
    if (error instanceof Failure || error instanceof Exhausted) return 'failed'
    throw error
  }
}

function evaluate({ expr, typeEnv = [], bindings = {}, disableCheck, container }: Original): CelValue {
  if (container !== undefined) throw new Refused(0, 'there are no containers')
  const reader = createReader()
  const variables = new Map<string, boolean>()
  for (const { name, ident } of typeEnv) {
    reader.declare(name, nameOf(ident?.type ?? {}))
    variables.set(name, false)
  }
  const reading = reader.read(expr)
  if (disableCheck !== true) reading.check()
  const code = compile(reading.tree, { variables, locals: [], uses: new Map() })
  const values = Object.entries(bindings).map(([name, binding]) => [name, valueOf(binding.value)] as const)
  return code(new Frame(Object.fromEntries(values)))
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  BOOL: 'bool',
  INT64: 'int',
  UINT64: 'uint',
  DOUBLE: 'double',
  STRING: 'string',
  BYTES: 'bytes',
}

function nameOf(type: ProtoType): string {
  if (type.primitive !== undefined) return PRIMITIVES[type.primitive] ?? 'dyn'
  if (type.listType) return `list<${nameOf(type.listType.elemType)}>`
  if (type.mapType) return `map<${nameOf(type.mapType.keyType)}, ${nameOf(type.mapType.valueType)}>`
  if (type.null === null) return 'null'
  if (type.messageType === DURATION || type.messageType === TIMESTAMP) return type.messageType
  throw new Refused(0, 'there are no messages')
}

const DURATION = 'google.protobuf.Duration'
const TIMESTAMP = 'google.protobuf.Timestamp'

function valueOf(proto: ProtoValue): CelValue {
  if (proto.boolValue !== undefined) return proto.boolValue
  if (proto.int64Value !== undefined) return BigInt(proto.int64Value)
  if (proto.uint64Value !== undefined) return new Uint(BigInt(proto.uint64Value))
  if (proto.doubleValue !== undefined) return Number(proto.doubleValue)
  if (proto.stringValue !== undefined) return proto.stringValue
  if (proto.bytesValue !== undefined)
    return new Bytes(new Uint8Array(Buffer.from(proto.bytesValue, 'base64')))
  if (proto.typeValue !== undefined) return new TypeName(proto.typeValue)
  if (proto.nullValue !== undefined) return null
  if (proto.listValue) return (proto.listValue.values ?? []).map(valueOf)
  if (proto.mapValue) return mapOf(proto.mapValue.entries ?? [])
  return objectOf(proto.objectValue)
}

function mapOf(entries: readonly { readonly key: ProtoValue; readonly value: ProtoValue }[]): Entries {
  const map = new Entries()
  for (const { key, value } of entries) map.add(valueOf(key), valueOf(value))
  return map
}

function objectOf(object: ProtoValue['objectValue']): CelValue {
  const value = object?.value ?? ''
  if (object?.['@type'].endsWith(DURATION) === true) return parseDuration(value) ?? null
  if (object?.['@type'].endsWith(TIMESTAMP) === true) return parseTimestamp(value) ?? null
  throw new Refused(0, 'there are no messages')
}

/** Returns a value as text with its type: equal texts mean equal values. */
export function show(value: CelValue): string {
  if (isList(value)) return `[${value.map(show).join(', ')}]`
  if (isMap(value)) {
    // Safe cast: the keys are those of this map.
    return `{${keysOfMap(value)
      .map((key) => `${show(key)}: ${show(lookUp(value, key) as CelValue)}`)
      .join(', ')}}`
  }
  return `${typeOf(value)} ${textOf(value)}`
}

function textOf(value: CelValue): string {
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Bytes) return Buffer.from(value.octets).toString('hex')
  return String(Object.values(value).at(-1))
}
