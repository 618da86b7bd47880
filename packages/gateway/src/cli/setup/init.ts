// `tollgate init`: creates a data directory. Never overwrites a file.

import { resolve } from 'node:path'
import { silent } from '../../log.ts'
import { openKeyring } from '../../keyring.ts'
import { openGateway } from '../../open.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, localUser, readIfThere } from '../program/connect.ts'
import { activateFirst, createData, newPassphrase, refuseExisting, type Made } from './create.ts'
import { firstToken } from './offer-login.ts'
import type { Terminal } from '../program/terminal.ts'

interface InitOptions extends DataOptions {
  readonly port?: number
  readonly passphrase?: boolean
  readonly salted?: boolean
  readonly databaseEnv?: string
}

/** Creates a data directory and prints the admin token. */
export async function runInit(terminal: Terminal, options: InitOptions): Promise<number> {
  const passphrase = newPassphrase(options.passphrase === true)
  const data = resolve(dataOf(options))
  refuseExisting(data)
  const created: Made[] = []
  const config = await createData(
    data,
    {
      ...(options.port !== undefined && { port: options.port }),
      ...(passphrase !== undefined && { passphrase }),
      ...(options.salted === true && { commit: 'salted' }),
      ...(options.databaseEnv !== undefined && { urlEnv: options.databaseEnv }),
    },
    (made) => {
      created.push(made)
      terminal.say(`created ${made.what}: \`${made.where}\``)
    },
  )
  const gateway = await openGateway(config, await openKeyring(config), silent, { brief: true })
  try {
    const policy = await activateFirst(gateway, readIfThere(config.policy))
    if (policy !== undefined) terminal.say(`activated policy \`${policy}\``)
    const first = await firstToken(terminal, gateway)
    const token = first.kind === 'shown' ? first.token : undefined
    if (token !== undefined) {
      terminal.say(
        `admin token of \`user:${localUser()}\`, shown only once; store it with \`tollgate login\`:`,
      )
    }
    terminal.data({ data, ledger: config.ledger, created, token }, token ?? '')
    terminal.say('next: `tollgate up` starts the gateway, `tollgate doctor` checks it')
    return 0
  } finally {
    await gateway.close()
  }
}
