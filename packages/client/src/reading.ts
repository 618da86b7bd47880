// Reads members of an answer and checks their types. A missing or wrong member is an error.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { invalidAnswer } from './answer.ts'
import type { TollgateError } from './error.ts'

/** Reads one value, or throws. */
type Read<T> = (value: Json | undefined, name: string) => T

const ID = /^[0-9a-f]{64}$/
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/

/** An object. */
export const object: Read<JsonObject> = (value, name) => {
  if (!isObject(value)) throw wrong(name, 'an object')
  return value
}

/** A string. */
export const text: Read<string> = (value, name) => {
  if (typeof value !== 'string') throw wrong(name, 'a string')
  return value
}

/** A whole number from 0. */
export const count: Read<number> = (value, name) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw wrong(name, 'a whole number from 0')
  return value
}

/** True or false. */
export const flag: Read<boolean> = (value, name) => {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false')
  return value
}

/** The id of a receipt. */
export const id: Read<string> = (value, name) => {
  if (typeof value !== 'string' || !ID.test(value)) throw wrong(name, 'the id of a receipt')
  return value
}

/** A timestamp: RFC 3339 with milliseconds, in UTC. */
export const time: Read<string> = (value, name) => {
  if (typeof value !== 'string' || !TIME.test(value) || Number.isNaN(Date.parse(value)))
    throw wrong(name, 'a timestamp')
  return value
}

/** One of the given words. */
export function word<W extends string>(...words: readonly W[]): Read<W> {
  return (value, name) => {
    const found = words.find((each) => each === value)
    if (found === undefined) throw wrong(name, `one of ${words.join(', ')}`)
    return found
  }
}

/** The value or null. A missing member counts as null. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (value, name) => (value === null || value === undefined ? null : read(value, name))
}

/** A list of values. */
export function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (value, name) => {
    if (!isList(value)) throw wrong(name, 'a list')
    return value.map((item, i) => read(item, `${name}[${i}]`))
  }
}

function wrong(name: string, expected: string): TollgateError {
  return invalidAnswer(undefined, `\`${name}\` is not ${expected}`)
}
