// Reads a tool's schema: the names of its arguments, and the actions that a caller can choose.

import type { JsonObject } from '@tollgate/evidence'
import { effectWordInName } from './effect-name.ts'
import { headOf } from './effect-object.ts'
import { firm } from './effect-verbs.ts'
import { wordsOf, type EffectWord } from './effect-words.ts'
import { isList, isObject } from './offer.ts'

/** The actions that a caller can choose: the values of an argument such as `action`. */
export function choicesOf(tool: string, listed: JsonObject): readonly EffectWord[] {
  const thing = headOf(wordsOf(tool.slice(0, MAX_NAME)))
  // In `manage_members`, the choice `add` adds members.
  return valuesOf(listed).flatMap(
    (value) => effectWordInName(firm.has(value) ? `${value}_${thing}` : value) ?? [],
  )
}

const MAX_NAME = 256

/** The values of the arguments that choose an action. */
export function valuesOf({ inputSchema }: JsonObject): readonly string[] {
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  if (!isObject(properties)) return []
  return CHOOSING.flatMap((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const values = isObject(property) ? property['enum'] : undefined
    return isList(values) ? values.slice(0, MAX_CHOICES).filter((value) => typeof value === 'string') : []
  })
}

const CHOOSING = ['action', 'operation', 'method', 'mode', 'op', 'command', 'subcommand']
const MAX_CHOICES = 100

const MAX_ARGUMENTS = 100
const PLAIN = /^[A-Za-z0-9_-]{1,64}$/

/** The argument names of a tool that are plain enough for a policy. */
export function argumentsOf({ inputSchema }: JsonObject): readonly string[] {
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  const names = isObject(properties) ? Object.keys(properties) : []
  return names.filter((name) => PLAIN.test(name)).slice(0, MAX_ARGUMENTS)
}

/** Whether it acts on something that is kept: `convert_issue` takes an id, `convert_units` does not. */
export function takesId(listed: JsonObject): boolean {
  return argumentsOf(listed).some((name) => name.toLowerCase().endsWith('id'))
}
