// The same run with other words: the injected text taken out, or put in other words, wherever it stands in what tools answered.

import type { Run, Step } from './runs.ts'

/** A run in which each injected text is replaced; undefined if none of them stands in any answer. */
export function reworded(run: Run, text: string): Run | undefined {
  const steps = run.steps.map((step) => rewordedStep(step, run.injections, text))
  if (steps.every((step, i) => step === run.steps[i])) return undefined
  return { ...run, injections: text === '' ? [] : [text], steps }
}

/** Whether an injected text stands in what the agent had read before a call. */
export function sawInjection(run: Run, before: number): boolean {
  return run.steps
    .slice(0, before)
    .some(({ output = '' }) => run.injections.some((injection) => placesOf(output, injection).length > 0))
}

function rewordedStep(step: Step, injections: readonly string[], text: string): Step {
  let output = step.output
  if (output === undefined) return step
  for (const injection of injections) output = replaced(output, injection, text)
  return output === step.output ? step : { ...step, output }
}

function replaced(output: string, injection: string, text: string): string {
  const places = placesOf(output, injection)
  let result = ''
  let from = 0
  for (const { start, end } of places) {
    result += output.slice(from, start) + indented(text, output, start)
    from = end
  }
  return result + output.slice(from)
}

/** A text as it would be written at a place: in YAML every line of it is as deep as its field. */
function indented(text: string, output: string, start: number): string {
  const line = output.slice(output.lastIndexOf('\n', start - 1) + 1, start)
  const depth = /^ *(?:- )?[\w-]+: /.test(line)
    ? line.search(/[^ -]/) + 2
    : /^ *$/.test(line)
      ? line.length
      : 0
  return depth === 0 ? text : text.replaceAll('\n', `\n${' '.repeat(depth)}`)
}

interface Place {
  readonly start: number
  readonly end: number
}

/** Where an injected text stands, however it was wrapped, indented, quoted or escaped on its way into the answer. */
function placesOf(output: string, injection: string): readonly Place[] {
  const wanted = bare(injection).text
  if (wanted === '') return []
  const { text, places } = bare(output)
  const found: Place[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const start = places[at] ?? 0
    found.push({ start, end: (places[at + wanted.length - 1] ?? output.length - 1) + 1 })
  }
  return found
}

/** A text without what depends on how it is written down, and where each letter of it stood. */
function bare(text: string): { readonly text: string; readonly places: readonly number[] } {
  const places: number[] = []
  let result = ''
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i)
    if (letter === '\\') {
      // `\n` is a line break.
      if ('nrt'.includes(text.charAt(i + 1))) i++
      continue
    }
    if (letter <= ' ' || letter === "'" || letter === '"') continue
    places.push(i)
    result += letter
  }
  return { text: result, places }
}
