// Holds the calls of one choice while they stream in, in pieces by index, until the choice is finished.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  readFunctionCall,
  readToolCall,
  signatureIn,
  signedWith,
  unknownCall,
  type Allowance,
  type ReplyCall,
} from './calls.ts'
import { functionCallIn, placeOf, toolCallsIn } from './members.ts'
import { Garbled } from '../dialect.ts'

export interface HeldCalls {
  /** Takes the pieces of calls in a delta. `size` is the length of the chunk. @throws Garbled */
  take(delta: JsonObject, size: number): void
  /** Takes a part of an unknown kind, which may be a call. */
  takeUnknown(part: JsonObject, size: number): void
  readonly isEmpty: boolean
  /** Returns the calls as they are now, and clears them. */
  release(isCut: boolean): ChoiceCalls
}

/** The calls of one choice, by kind. */
export interface ChoiceCalls {
  readonly tools: readonly ReplyCall[]
  readonly legacy: readonly ReplyCall[]
  readonly unknown: readonly ReplyCall[]
}

/** The index of a call must be below this. */
const MAX_PLACES = 256

/** Shared by the choices of one reply. */
interface Counted {
  /** The number of choices with a `function_call`. */
  legacy: number
}

export function createHeld(allowance: Allowance, counted: Counted): HeldCalls {
  const tools = new Map<number, Pieces>()
  const legacy: Pieces[] = []
  const unknown: JsonObject[] = []

  function takeTool(entry: JsonObject, size: number): void {
    const place = placeOf(entry, MAX_PLACES, 'a call')
    const pieces = tools.get(place) ?? createPieces(allowance)
    tools.set(place, pieces)
    pieces.takeEntry(entry, size)
  }

  function takeLegacy(entry: JsonObject, size: number): void {
    if (!legacy[0]) counted.legacy++
    const pieces = legacy[0] ?? createPieces(allowance)
    legacy[0] = pieces
    pieces.takePart('function', entry, size)
  }

  return {
    take(delta, size) {
      for (const entry of toolCallsIn(delta)) takeTool(entry, size)
      for (const entry of functionCallIn(delta)) takeLegacy(entry, size)
    },
    takeUnknown(part, size) {
      allowance.addCall()
      allowance.addLength(size)
      unknown.push(part)
    },
    get isEmpty() {
      return tools.size + legacy.length + unknown.length === 0
    },
    release(isCut) {
      const inOrder = [...tools].sort(([one], [other]) => one - other)
      const calls = {
        tools: inOrder.map(([, pieces]) => pieces.call((entry) => readToolCall(entry, isCut))),
        legacy: legacy.map((pieces) => pieces.call((entry) => asLegacy(entry, counted.legacy === 1))),
        unknown: unknown.map(unknownCall),
      }
      tools.clear()
      legacy.length = 0
      unknown.length = 0
      return calls
    },
  }
}

function asLegacy({ function: part }: JsonObject, isOnly: boolean): ReplyCall {
  return readFunctionCall(isObject(part) ? part : {}, isOnly)
}

type PartName = 'function' | 'custom'

/** One call, as far as it has arrived. */
interface Pieces {
  takeEntry(entry: JsonObject, size: number): void
  takePart(name: PartName, part: JsonObject, size: number): void
  /** The call as it would be in a whole reply. */
  call(read: (entry: JsonObject) => ReplyCall): ReplyCall
}

function createPieces(allowance: Allowance): Pieces {
  let id = ''
  let type = ''
  let signature = ''
  const parts = new Map<PartName, { name: string; text: string }>()
  // Pieces that cannot be combined are kept for the receipt.
  const odd: JsonObject[] = []
  allowance.addCall()

  function setAside(piece: JsonObject, size: number): void {
    allowance.addLength(size)
    odd.push(piece)
  }

  function takeId(value: string): void {
    if (id !== '' && value !== '' && value !== id) throw new Garbled('a call changes its id')
    if (id === '') allowance.addLength(value.length)
    id ||= value
  }

  function takeType(value: string, entry: JsonObject, size: number): void {
    if (type !== '' && value !== '' && value !== type) setAside(entry, size)
    type ||= value
  }

  function takePart(name: PartName, part: JsonObject, size: number): void {
    const title = part['name'] ?? ''
    const text = part[name === 'function' ? 'arguments' : 'input'] ?? ''
    if (typeof title !== 'string' || typeof text !== 'string') {
      setAside(part, size)
      return
    }
    allowance.addLength(title.length + text.length)
    const before = parts.get(name) ?? { name: '', text: '' }
    parts.set(name, { name: before.name + title, text: before.text + text })
  }

  function takeOwner(name: PartName, entry: JsonObject, size: number): void {
    const part = entry[name] ?? null
    if (isObject(part)) takePart(name, part, size)
    else if (part !== null) setAside(entry, size)
  }

  function whole(): JsonObject {
    const entry: Record<string, Json> = { id, type, ...signedWith(signature) }
    const called = parts.get('function')
    const custom = parts.get('custom')
    if (called) entry['function'] = { name: called.name, arguments: called.text }
    if (custom) entry['custom'] = { name: custom.name, input: custom.text }
    return entry
  }

  return {
    takeEntry(entry, size) {
      takeId(textOf(entry['id'], 'id'))
      takeType(textOf(entry['type'], 'type'), entry, size)
      takeOwner('function', entry, size)
      takeOwner('custom', entry, size)
      signature ||= signatureIn(entry)
      // The unknown members are kept for the receipt.
      if (type !== '' && type !== 'function' && type !== 'custom') setAside(entry, size)
    },
    takePart,
    call: (read) => (odd.length > 0 ? unknownCall({ ...whole(), pieces: odd }) : read(whole())),
  }
}

function textOf(value: Json | undefined, what: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new Garbled(`the ${what} of a call is not a string`)
  return value
}
