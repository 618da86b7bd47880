// Formats case results as JUnit XML, one testsuite per file. The output is well-formed for any input.

import type { CaseResult } from './run-cases.ts'
import type { FileReport } from './report.ts'

export function junitOf(reports: readonly FileReport[]): string {
  const suites = reports.map(suiteOf)
  const total = attributes({
    name: 'tollgate policy test',
    tests: sum(suites, 'tests'),
    failures: sum(suites, 'failures'),
    errors: sum(suites, 'errors'),
    time: seconds(reports.flatMap(({ results }) => results)),
  })
  const lines = suites.map(({ text }) => text).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${total}>\n${lines}</testsuites>\n`
}

interface Suite {
  readonly text: string
  readonly tests: number
  readonly failures: number
  readonly errors: number
}

function sum(suites: readonly Suite[], what: 'tests' | 'failures' | 'errors'): number {
  return suites.reduce((total, suite) => total + suite[what], 0)
}

function suiteOf({ file, results, mistakes }: FileReport): Suite {
  // A file that cannot be run is one test with an error.
  const error = mistakes.length === 0 ? '' : errorIn(file, mistakes)
  const counts = {
    tests: results.length + (error === '' ? 0 : 1),
    failures: results.filter(({ failure }) => failure).length,
    errors: error === '' ? 0 : 1,
  }
  const cases = results.map((result) => testcase(file, result)).join('')
  const head = attributes({ name: file, ...counts, time: seconds(results) })
  return { ...counts, text: `  <testsuite${head}>\n${error}${cases}  </testsuite>\n` }
}

function errorIn(file: string, mistakes: readonly string[]): string {
  const head = attributes({ classname: file, name: 'the case file is valid' })
  const about = attributes({ message: mistakes[0] ?? '', type: 'mistake' })
  return `    <testcase${head}>\n      <error${about}>${escaped(mistakes.join('\n'))}</error>\n    </testcase>\n`
}

function testcase(file: string, result: CaseResult): string {
  const { name, line, failure } = result
  const head = attributes({ classname: file, name, file, line, time: seconds([result]) })
  if (!failure) return `    <testcase${head}/>\n`
  const { expected, got, outcome } = failure
  const message = `expected ${expected}, got ${got}`
  const detail = [
    `${file}:${failure.line}: ${message}`,
    ...(outcome
      ? [`${outcome.rung} ${outcome.reason}`, ...(outcome.detail === undefined ? [] : [outcome.detail])]
      : []),
  ].join('\n')
  const about = attributes({ message, type: outcome?.reason ?? 'failure' })
  return `    <testcase${head}>\n      <failure${about}>${escaped(detail)}</failure>\n    </testcase>\n`
}

function seconds(results: readonly CaseResult[]): string {
  return (results.reduce((total, { milliseconds }) => total + milliseconds, 0) / 1000).toFixed(3)
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('')
}

// XML 1.0 cannot represent these characters.
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Surrogate}]/gu
const MEANING: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
}

function escaped(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"'\n\r\t]/g, (character) => MEANING[character] ?? '')
}
