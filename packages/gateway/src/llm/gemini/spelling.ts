// Google's JSON has two spellings for each name (`functionCall`, `function_call`), and one object may be written for a list of one.
// The gateway forwards one form, so that no second reading is left.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous } from '../dialect.ts'
import { isGiven } from '../filter.ts'

const SNAKE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/

/** Reads the objects of a request, and writes them in one form. */
export class Spelling {
  /** Whether something was written in another form. */
  changed = false

  /** An object with its names in one spelling; undefined if there is none. @throws Refused */
  object(value: Json | undefined, param: string): JsonObject | undefined {
    if (!isGiven(value)) return undefined
    if (!isObject(value)) throw ambiguous(`an entry of \`${param}\` must be an object`, param)
    for (const name of Object.keys(value)) if (SNAKE.test(name)) this.#rename(value, name, param)
    return value
  }

  /** The objects of a list, each with its names in one spelling. @throws Refused */
  list(holder: JsonObject, name: string, param: string): readonly JsonObject[] {
    const value = holder[name]
    if (!isGiven(value)) return []
    const list = isList(value) ? value : this.#wrap(holder, name, value)
    return list.map((item) => {
      const object = this.object(item, param)
      if (!object) throw ambiguous(`an entry of \`${param}\` must be an object`, param)
      return object
    })
  }

  #rename(object: JsonObject, name: string, param: string): void {
    const other = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    if (Object.hasOwn(object, other))
      throw ambiguous(`\`${other}\` is there in two spellings; send one`, param)
    // Sound: the body may be changed.
    const own = object as Record<string, Json>
    own[other] = own[name] ?? null
    Reflect.deleteProperty(own, name)
    this.changed = true
  }

  #wrap(holder: JsonObject, name: string, value: Json): readonly Json[] {
    // Sound: the body may be changed.
    const own = holder as Record<string, Json>
    this.changed = true
    return (own[name] = [value])
  }
}
