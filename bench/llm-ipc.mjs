// What the processes of the LLM benchmark say of themselves: where they are, once they are there, and then whatever they are asked.
// They end when nobody listens any more.

import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { setTimeout as pause } from 'node:timers/promises'

let profiling

const ANSWERS = {
  /** Microseconds of processor time, of all threads. */
  cpu() {
    const { user, system } = process.cpuUsage()
    return { micros: user + system }
  },
  /** Bytes that are held when everything that can go has gone. Needs `--expose-gc`. */
  async memory() {
    for (let i = 0; i < 3; i++) {
      globalThis.gc()
      await pause(20)
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    return { rss, held: heapUsed + external }
  },
  /** Watches where the time goes from now on. */
  async profile() {
    profiling = new Session()
    profiling.connect()
    await profiling.post('Profiler.enable')
    await profiling.post('Profiler.start')
    return {}
  },
  /** Writes down where it went. */
  async profiled(path) {
    const { profile } = await profiling.post('Profiler.stop')
    profiling.disconnect()
    writeFileSync(path, JSON.stringify(profile))
    return {}
  },
}

/** Tells whoever started this process, and answers it from then on. */
export function present(said, end = () => process.exit()) {
  process.on('message', ({ ask, of }) => {
    void (async () => process.send(await ANSWERS[ask](of)))()
  })
  process.once('disconnect', end)
  process.send(said)
}
