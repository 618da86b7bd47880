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

/** The calls of one choice, by kind. */
export interface ChoiceCalls {
  readonly tools: readonly ReplyCall[]
  readonly legacy: readonly ReplyCall[]
  readonly unknown: readonly ReplyCall[]
}

/** The index of a call must be below this. */
const MAX_PLACES = 256

/** Shared by the choices of one reply. */
export interface SharedCounts {
  readonly allowance: Allowance
  /** The number of choices with a `function_call`. */
  legacy: number
}

export class HeldCalls {
  readonly #shared: SharedCounts
  readonly #tools = new Map<number, CallPieces>()
  #legacy: CallPieces | undefined
  #unknown: JsonObject[] = []

  constructor(shared: SharedCounts) {
    this.#shared = shared
  }

  get isEmpty(): boolean {
    return this.#tools.size + this.#unknown.length === 0 && !this.#legacy
  }

  /** Takes the pieces of calls in a delta. `size` is the length of the chunk. @throws Garbled */
  take(delta: JsonObject, size: number): void {
    for (const entry of toolCallsIn(delta)) this.#takeTool(entry, size)
    for (const entry of functionCallIn(delta)) this.#takeLegacy(entry, size)
  }

  #takeTool(entry: JsonObject, size: number): void {
    const place = placeOf(entry, MAX_PLACES, 'a call')
    const pieces = this.#tools.get(place) ?? new CallPieces(this.#shared.allowance)
    this.#tools.set(place, pieces)
    pieces.takeEntry(entry, size)
  }

  #takeLegacy(entry: JsonObject, size: number): void {
    if (!this.#legacy) this.#shared.legacy++
    this.#legacy ??= new CallPieces(this.#shared.allowance)
    this.#legacy.takePart('function', entry, size)
  }

  /** Takes a part of an unknown kind, which may be a call. */
  takeUnknown(part: JsonObject, size: number): void {
    this.#shared.allowance.addCall()
    this.#shared.allowance.addLength(size)
    this.#unknown.push(part)
  }

  /** Returns the calls as they are now, and clears them. */
  release(isCut: boolean): ChoiceCalls {
    const inOrder = [...this.#tools].sort(([one], [other]) => one - other)
    const legacy = this.#legacy ? [this.#legacy] : []
    const isOnly = this.#shared.legacy === 1
    const calls = {
      tools: inOrder.map(([, pieces]) => pieces.call((entry) => readToolCall(entry, isCut))),
      legacy: legacy.map((pieces) => pieces.call((entry) => asLegacy(entry, isOnly))),
      unknown: this.#unknown.map(unknownCall),
    }
    this.#tools.clear()
    this.#legacy = undefined
    this.#unknown = []
    return calls
  }
}

function asLegacy({ function: part }: JsonObject, isOnly: boolean): ReplyCall {
  return readFunctionCall(isObject(part) ? part : {}, isOnly)
}

/** The member of each kind of call that holds its arguments. */
const TEXT_OF = { function: 'arguments', custom: 'input' } as const
type PartName = keyof typeof TEXT_OF

/** One call, as far as it has arrived. */
class CallPieces {
  readonly #allowance: Allowance
  #id = ''
  #type = ''
  #signature = ''
  readonly #parts = new Map<PartName, { name: string; text: string }>()
  /** Pieces that cannot be combined are kept for the receipt. */
  readonly #odd: JsonObject[] = []

  constructor(allowance: Allowance) {
    this.#allowance = allowance
    allowance.addCall()
  }

  takeEntry(entry: JsonObject, size: number): void {
    this.#takeId(textOf(entry['id'], 'id'))
    this.#takeType(textOf(entry['type'], 'type'), entry, size)
    this.#takeOwner('function', entry, size)
    this.#takeOwner('custom', entry, size)
    this.#signature ||= signatureIn(entry)
    // The unknown members are kept for the receipt.
    if (this.#type !== '' && this.#type !== 'function' && this.#type !== 'custom') this.#setAside(entry, size)
  }

  #takeId(id: string): void {
    if (this.#id !== '' && id !== '' && id !== this.#id) throw new Garbled('a call changes its id')
    if (this.#id === '') this.#allowance.addLength(id.length)
    this.#id ||= id
  }

  #takeType(type: string, entry: JsonObject, size: number): void {
    if (this.#type !== '' && type !== '' && type !== this.#type) this.#setAside(entry, size)
    this.#type ||= type
  }

  #takeOwner(name: PartName, entry: JsonObject, size: number): void {
    const part = entry[name] ?? null
    if (isObject(part)) this.takePart(name, part, size)
    else if (part !== null) this.#setAside(entry, size)
  }

  takePart(name: PartName, part: JsonObject, size: number): void {
    const title = part['name'] ?? ''
    const text = part[TEXT_OF[name]] ?? ''
    if (typeof title !== 'string' || typeof text !== 'string') {
      this.#setAside(part, size)
      return
    }
    this.#allowance.addLength(title.length + text.length)
    const before = this.#parts.get(name) ?? { name: '', text: '' }
    this.#parts.set(name, { name: before.name + title, text: before.text + text })
  }

  #setAside(piece: JsonObject, size: number): void {
    this.#allowance.addLength(size)
    this.#odd.push(piece)
  }

  /** The call as it would be in a whole reply. */
  call(read: (entry: JsonObject) => ReplyCall): ReplyCall {
    const entry: Record<string, Json> = { id: this.#id, type: this.#type, ...signedWith(this.#signature) }
    for (const [part, { name, text }] of this.#parts) entry[part] = { name, [TEXT_OF[part]]: text }
    return this.#odd.length > 0 ? unknownCall({ ...entry, pieces: this.#odd }) : read(entry)
  }
}

function textOf(value: Json | undefined, what: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new Garbled(`the ${what} of a call is not a string`)
  return value
}
