// Loaded by every instrumented file, in each thread and process: writes down which file is entered, when an answer is sent, and
// which texts are parsed. One line each, `TIME WHAT DETAIL`, into a file of the thread's own. The clock is one for all
// processes of a machine, so that the lines can be put in order afterwards.

import { AsyncLocalStorage } from 'node:async_hooks'
import { openSync, writeSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import timers from 'node:timers'
import { isMainThread, threadId } from 'node:worker_threads'

const { TOLLGATE_WAYS: folder, TOLLGATE_MARKER: marker } = process.env
const LONG = 20 // A timer that waits longer than this many milliseconds is upkeep, and no step of a call.
const plainly = JSON.stringify
const upkeep = new AsyncLocalStorage()
let last
const file = openSync(join(folder, `${process.pid}-${threadId}.log`), 'a')

/** A function of this file begins. Those of one file in a row are one line, up to the end of the turn. */
export function enter(path) {
  if (path === last || upkeep.getStore()) return
  last = path
  queueMicrotask(forgetLast)
  write('enter', path)
}

function forgetLast() {
  last = undefined
}

/** A function that reads or writes JSON begins with this. */
export function parse(name, input) {
  if (holdsMarker(input)) write('parse', name)
}

function holdsMarker(input) {
  if (typeof input === 'string') return input.includes(marker)
  if (input instanceof Uint8Array)
    return Buffer.from(input.buffer, input.byteOffset, input.length).includes(marker)
  try {
    return plainly(input)?.includes(marker) === true
  } catch {
    return false
  }
}

function write(what, detail) {
  writeSync(file, `${process.hrtime.bigint()} ${what} ${detail}\n`)
}

/** Puts something before each call of a method. */
function before(object, name, does) {
  const method = object[name]
  object[name] = function (...args) {
    does(...args)
    return Reflect.apply(method, this, args)
  }
}

before(JSON, 'parse', (text) => parse('JSON.parse', text))
before(ServerResponse.prototype, 'end', () => write('sent', 'response'))
if (isMainThread) before(process.stdout, 'write', () => write('sent', 'stdout'))

for (const name of ['setTimeout', 'setInterval']) {
  const start = timers[name]
  const isUpkeep = (delay) => name === 'setInterval' || delay > LONG
  timers[name] = globalThis[name] = Object.assign(
    (does, delay, ...args) =>
      start(isUpkeep(delay) ? (...given) => upkeep.run(true, does, ...given) : does, delay, ...args),
    start,
  )
}
syncBuiltinESMExports()
