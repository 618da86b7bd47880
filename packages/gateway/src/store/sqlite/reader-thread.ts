// The thread that reads the file, so that long reads delay nothing else.

import { workerData } from 'node:worker_threads'
import { ledgerFile, openForReading } from './database.ts'
import { openReader } from './reader.ts'
import { answerQuestions, type Methods } from './thread.ts'

export interface ReaderThreadData {
  readonly data: string
  readonly writer: string
}

// Sound: `store.ts` passes this value.
const { data, writer } = workerData as ReaderThreadData
answerQuestions(open(), ledgerFile(data))

function open(): Promise<Methods> {
  return Promise.resolve().then(() => {
    const db = openForReading(data)
    return { ...openReader(db, writer), close: () => db.close() }
  })
}
