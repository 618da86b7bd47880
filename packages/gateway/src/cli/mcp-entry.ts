// The entry of a server in a client's configuration: anything may stand in it.

/** An object of JSON, before anybody has looked into it. */
export type Entry = Readonly<Record<string, unknown>>

/** Whether a value is an object. */
export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The texts of a value that is one, or a list of some; whatever else is in it is left out. */
export function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === 'string')
}
