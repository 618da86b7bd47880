// The thread that reads the file, so that a long look at it holds up nobody.

import { workerData } from 'node:worker_threads'
import { openForReading } from './database.ts'
import { openReader } from './reader.ts'
import { answerQuestions, type Methods } from './thread.ts'

answerQuestions(open())

function open(): Promise<Methods> {
  return Promise.resolve().then(() => {
    // Sound: `store.ts` starts this thread with the path of the data directory.
    const db = openForReading(workerData as string)
    return { ...openReader(db), close: () => db.close() }
  })
}
