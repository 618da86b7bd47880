// Where the lines of the decision log go: a file, which the operator can rename at any time, or standard output.

import { constants } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { GatewayError } from '../error.ts'

export interface LogSink {
  /** Appends whole lines. Rejects if one of them could not be written. Called again only after it has settled. */
  write(text: string): Promise<void>
  close(): Promise<void>
}

const { O_WRONLY, O_APPEND, O_CREAT } = constants
/** Opening a pipe without a reader fails instead of waiting. Windows has no such flag: there it counts as 0. */
const WITHOUT_WAITING = constants.O_NONBLOCK

/**
 * Appends to a file. If the file at this path was renamed or removed, the next write creates it again, so a rotation needs no signal.
 *
 * @throws GatewayError `CONFIG_INVALID` if the path cannot be opened as a file.
 */
export async function openLineFile(path: string): Promise<LogSink> {
  let file = await openFile(path).catch((cause: unknown) => {
    // Sound: file system errors have a code, as has our own.
    const { code } = cause as NodeJS.ErrnoException
    throw new GatewayError('CONFIG_INVALID', `the decision log \`${path}\` cannot be opened: ${code}`, {
      cause,
      hints: [
        'set `decision-log` in `tollgate.yaml` to a file that the user of the gateway may write, or `-`',
      ],
    })
  })
  let torn = false
  return {
    async write(text) {
      const now = await current(file, path)
      if (now !== file) torn = false
      file = now
      const bytes = Buffer.from(torn ? `\n${text}` : text)
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, done)
        done += bytesWritten
        // A disk that fills up takes the beginning of a line. The next write ends that line.
        torn = bytes[done - 1] !== NEWLINE
      }
    },
    close: () => file.close(),
  }
}

const NEWLINE = 10

/** The file at the path: the open one, or a new one after a rotation. */
async function current(file: FileHandle, path: string): Promise<FileHandle> {
  const [own, named] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  if (named?.ino === own.ino && named.dev === own.dev) return file
  const next = await openFile(path)
  await file.close()
  return next
}

async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | WITHOUT_WAITING, 0o600)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw Object.assign(new Error('not a file'), { code: 'it is not a file' })
}

/** Writes to a stream of this process. A reader that goes away ends the log, not the gateway. */
export function openLineStream(stream: Writable): LogSink {
  // Commands end when their output is closed. A gateway does not.
  stream.removeAllListeners('error')
  stream.on('error', () => undefined)
  return {
    write: (text) =>
      new Promise((resolve, reject) => stream.write(text, (fault) => (fault ? reject(fault) : resolve()))),
    close: () => Promise.resolve(),
  }
}
