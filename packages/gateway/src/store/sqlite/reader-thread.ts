// The thread that reads the file, so that long reads delay nothing else.

import { workerData } from 'node:worker_threads'
import { ledgerFile, openForReading } from './database.ts'
import { LedgerReader } from './reader.ts'
import { answerQuestions } from './thread.ts'

export interface ReaderThreadData {
  readonly data: string
  readonly writer: string
}

// Sound: `store.ts` passes this value.
const { data, writer } = workerData as ReaderThreadData
answerQuestions(
  Promise.resolve().then(() => new LedgerReader(openForReading(data), writer)),
  ledgerFile(data),
)
