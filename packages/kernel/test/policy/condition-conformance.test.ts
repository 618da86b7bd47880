import { describe, expect, it } from 'vitest'
import { conformanceTests, outcomeOf, type ConformanceTest, type Outcome } from './condition-conformance.ts'

const OUTCOMES: ReadonlyMap<ConformanceTest, Outcome> = new Map(
  conformanceTests().map((test) => [test, outcomeOf(test)]),
)

/** Files of the suite that test unsupported parts of the language. */
const OUTSIDE: Readonly<Record<string, string>> = {
  bindings_ext: 'an extension: `cel.bind`',
  block_ext: 'an extension: `cel.block`',
  dynamic: 'about protobuf wrappers and `Any`',
  encoders_ext: 'an extension: base64',
  enums: 'about protobuf enums',
  macros2: 'an extension: macros with two variables',
  math_ext: 'an extension: `math`',
  optionals: 'an extension: optional values',
  proto2: 'about protobuf messages',
  proto2_ext: 'an extension of protobuf',
  proto3: 'about protobuf messages',
  string_ext: 'an extension: functions on strings',
  wrappers: 'about protobuf wrappers',
}

/** Single tests of the other files that need unsupported features. */
const FEATURES: readonly { reason: string; asks: (test: ConformanceTest) => boolean }[] = [
  {
    reason: 'protobuf messages are not supported',
    asks: ({ original }) =>
      /[A-Z]\w+\s*\{/.test(original.expr) || JSON.stringify(original).includes('proto3'),
  },
  {
    reason: 'variables have no qualified names and no container',
    asks: ({ original }) => original.typeEnv?.some(({ name }) => name.includes('.')) === true,
  },
  {
    reason: 'unknown functions and names are refused at load, not at run time',
    asks: ({ id }) => /^parse\/receiver_function_names\/|unbound_is_runtime_error/.test(id),
  },
  {
    reason: 'functions are not declared by the caller',
    asks: ({ original }) => JSON.stringify(original.typeEnv ?? []).includes('"function"'),
  },
  {
    reason: 'optional values are not supported',
    asks: ({ original }) => original.expr.includes('optional.'),
  },
  {
    reason: 'field names in backquotes are not supported',
    asks: ({ id }) => id.includes('/quoted_map_fields/'),
  },
  {
    reason: 'names of time zones need a database that differs between platforms',
    asks: ({ original }) => /'[A-Z][A-Za-z]+\/\w+'\)/.test(original.expr),
  },
  {
    reason: 'cel-js does not parse raw bytes literals',
    asks: ({ id }) => /^parse\/bytes_literals\/.*raw_/.test(id),
  },
  {
    reason: 'cel-js misreads non-ASCII characters in bytes literals, so they are refused',
    asks: ({ original }) => /b'[áÿ]'/.test(original.expr),
  },
  {
    reason: '`has()` of cel-js takes only fields of variables',
    asks: ({ original }) => original.expr.startsWith('has({'),
  },
]

/** Single tests that cel-js refuses. */
const KNOWN: Readonly<Record<string, string>> = {
  'comparisons/gt_literal/not_gt_double': 'cel-js does not parse `.99`',
  'macros/all/list_empty': 'the checker of cel-js gives up on `[].all(e, e > 0)`',
  'timestamps/timestamp_arithmetic/add_time_to_duration':
    'cel-js takes a duration plus a timestamp for a duration',
  'type_deductions/flexible_type_parameter_assignment/unconstrained_type_var_as_dyn':
    'cel-js cannot select from an item of an empty list',
}

function isOutside({ file }: ConformanceTest): boolean {
  return file in OUTSIDE
}

function reasonToSkip(test: ConformanceTest): string | undefined {
  return KNOWN[test.id] ?? FEATURES.find(({ asks }) => asks(test))?.reason
}

const ALL = [...OUTCOMES.keys()]
const INSIDE = ALL.filter((test) => !isOutside(test))
const MISSED = INSIDE.filter((test) => OUTCOMES.get(test) !== 'right')

describe('the conformance tests of CEL', () => {
  it('all pass, except those with a listed reason', () => {
    expect(MISSED.filter((test) => reasonToSkip(test) === undefined).map(({ id }) => id)).toEqual([])
  })

  it('never get a wrong answer, not even for unsupported features', () => {
    expect(ALL.filter((test) => OUTCOMES.get(test) === 'wrong').map(({ id }) => id)).toEqual([])
  })

  it('use every listed reason', () => {
    const files = new Set(ALL.map(({ file }) => file))
    expect(Object.keys(OUTSIDE).filter((file) => !files.has(file))).toEqual([])
    expect(Object.keys(KNOWN).filter((id) => !MISSED.some((test) => test.id === id))).toEqual([])
    expect(FEATURES.filter(({ asks }) => !MISSED.some(asks)).map(({ reason }) => reason)).toEqual([])
  })

  it('have these numbers', () => {
    const counts = Object.fromEntries(
      [...new Set(INSIDE.map(({ file }) => file))].map((file) => {
        const tests = INSIDE.filter((test) => test.file === file)
        return [file, `${tests.filter((test) => !MISSED.includes(test)).length} of ${tests.length}`]
      }),
    )
    expect(counts).toEqual({
      basic: '40 of 43',
      comparisons: '329 of 406',
      conversions: '109 of 109',
      fields: '47 of 60',
      fp_math: '30 of 30',
      integer_math: '64 of 64',
      lists: '39 of 39',
      logic: '30 of 30',
      macros: '43 of 44',
      namespace: '0 of 3',
      parse: '168 of 219',
      plumbing: '5 of 5',
      string: '51 of 51',
      timestamps: '70 of 76',
      type_deductions: '14 of 47',
    })
    expect([ALL.length, INSIDE.length, INSIDE.length - MISSED.length]).toEqual([2344, 1226, 1039])
  })
})
