// The conversation of a Gemini request: texts with their channels, and results of functions.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, tooLarge, type Restored, type Result, type TurnText } from '../dialect.ts'
import { readFileData } from '../files.ts'
import { isGiven } from '../filter.ts'
import { referenceTo, UnnamedCalls } from '../unnamed-calls.ts'
import { readResult } from './results.ts'
import type { Spelling } from './spelling.ts'

interface ContentTurns {
  readonly turns: readonly (TurnText | Result)[]
  readonly unnamed: UnnamedCalls
}

/** A call that has no result yet. */
interface AskedCall {
  readonly id: Json | undefined
  readonly name: string
  readonly ref: string | undefined
}

const MAX_CONTENTS = 20_000
const MAX_PARTS = 100_000
const MAX_RESULTS = 10_000
/** The members of a part that the provider has filled with what a tool of it has read. */
const RAN: readonly string[] = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']

/** Reads the conversation in order. @throws Refused */
export function readTurns(body: JsonObject, spelling: Spelling, restored: Restored): ContentTurns {
  const turns = new ContentReader(spelling, restored)
  const system = spelling.object(body['systemInstruction'], 'systemInstruction')
  if (system) turns.takeParts(system, false, 'systemInstruction')
  turns.takeContents(body)
  return turns
}

class ContentReader implements ContentTurns {
  readonly turns: (TurnText | Result)[] = []
  readonly unnamed: UnnamedCalls = new UnnamedCalls()
  readonly #spelling: Spelling
  readonly #restored: Restored
  #open: AskedCall[] = []
  /** Whether a result has followed the open calls. */
  #isAnswered = false
  #parts = 0
  #results = 0

  constructor(spelling: Spelling, restored: Restored) {
    this.#spelling = spelling
    this.#restored = restored
  }

  takeContents(body: JsonObject): void {
    const contents = this.#spelling.list(body, 'contents', 'contents')
    if (contents.length > MAX_CONTENTS) throw tooMany('contents', MAX_CONTENTS)
    for (const content of contents) {
      const role = content['role'] ?? ''
      if (typeof role !== 'string' || !ROLES.includes(role)) {
        throw ambiguous('a content has an unknown role', 'contents')
      }
      this.takeParts(content, role === 'model', 'contents')
    }
  }

  takeParts(content: JsonObject, isModel: boolean, param: string): void {
    for (const part of this.#spelling.list(content, 'parts', param)) {
      if (++this.#parts > MAX_PARTS) throw tooMany('parts', MAX_PARTS)
      this.#takePart(part, isModel, param)
    }
  }

  #takePart(part: JsonObject, isModel: boolean, param: string): void {
    const { text } = part
    if (isGiven(text) && typeof text !== 'string')
      throw ambiguous('the text of a part must be a string', param)
    if (typeof text === 'string' && !isModel) this.#say('USER', [text])
    this.#say('TOOL_OUTPUT', fileText(this.#spelling.object(part['inlineData'], param), this.#restored))
    for (const name of RAN) this.#say('TOOL_OUTPUT', wordsIn(part[name] ?? null))
    const call = this.#spelling.object(part['functionCall'], param)
    if (call) this.#takeCall(call)
    const response = this.#spelling.object(part['functionResponse'], param)
    if (response) this.#takeResponse(response)
  }

  #say(channel: TurnText['channel'], texts: readonly string[]): void {
    for (const text of texts) if (text !== '') this.turns.push({ kind: 'said', channel, text })
  }

  #takeCall({ id, name, args }: JsonObject): void {
    if (this.#isAnswered) this.#open = []
    this.#isAnswered = false
    if (typeof name !== 'string') return
    this.#open.push({ id, name, ref: this.unnamed.next(referenceTo(name, args ?? {})) })
  }

  #takeResponse(response: JsonObject): void {
    if (++this.#results > MAX_RESULTS) throw tooMany('results', MAX_RESULTS)
    this.#isAnswered = true
    const call = this.#callOf(response)
    this.turns.push(readResult(response, call, this.#spelling, this.#restored))
  }

  /** The call of a result: the one with its id, otherwise the first open one with its name. */
  #callOf({ id, name }: JsonObject): AskedCall | undefined {
    const byId = isGiven(id) ? this.#open.findIndex((call) => call.id === id && call.name === name) : -1
    const at =
      byId >= 0
        ? byId
        : this.#open.findIndex((call) => call.name === name && !(isGiven(id) && isGiven(call.id)))
    return at < 0 ? undefined : this.#open.splice(at, 1)[0]
  }
}

/** A content without a role is the user's. */
const ROLES: readonly string[] = ['', 'user', 'model', 'function', 'tool']

/** The text of a file. It does not count as the user's own words. An unclear encoding is decoded as far as possible. */
function fileText(file: JsonObject | undefined, restored: Restored): readonly string[] {
  const { mimeType: type, data } = file ?? {}
  if (typeof data !== 'string') return []
  const bare = restored(data)
  const read = readFileData(`data:${typeof type === 'string' ? type : ''};base64,${bare}`)
  if (read.kind === 'other') return []
  return [read.kind === 'text' ? read.text : Buffer.from(bare, 'base64').toString('utf8')]
}

const MAX_DEPTH = 32

/** The strings in what a tool of the provider has returned. */
function wordsIn(value: Json, depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) throw ambiguous('a part is nested too deeply; send a flatter one', 'contents')
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap((item) => wordsIn(item, depth + 1))
  return isObject(value) ? Object.values(value).flatMap((member) => wordsIn(member, depth + 1)) : []
}

function tooMany(what: string, most: number): Error {
  return tooLarge(`the request has more than ${most} ${what}; send fewer`, 'contents')
}
