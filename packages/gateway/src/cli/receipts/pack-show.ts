// `tollgate pack show`: one receipt of a pack with all its fields, its approval, its effect and its policy.

import type { Receipt } from '@tollgate/evidence'
import { pairs, shown } from '../program/table.ts'
import { complain, CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { sentence, type ShownEntry } from './describe.ts'
import { detail } from './detail.ts'
import { answerText, PackCalls, type ApprovalEntry, type DecisionEntry } from './pack-calls.ts'
import {
  advise,
  checkPack,
  resultData,
  resultLine,
  withExitOfVerify,
  type PackOptions,
} from './pack-check.ts'

/** Shows one receipt, given by id, by the start of its id, or by index. */
export function runShow(terminal: Terminal, options: PackOptions, pack = '', which = ''): Promise<number> {
  const search = new Search(which)
  return withExitOfVerify(async () => {
    const report = await checkPack(terminal, options, pack, (entry) => search.take(entry))
    const found = report.level === 'malformed' ? [] : search.found()
    const [first] = found
    const only = found.length === 1 ? first : undefined
    terminal.exact({ verification: resultData(report), ...(only && search.linksOf(only)) }, () =>
      [resultLine(terminal, report), ...(only ? ['', textOf(terminal, search.linksOf(only))] : [])].join(
        '\n',
      ),
    )
    advise(terminal, report)
    if (only) return report.exit
    complain(problemWith(which, found))
    return report.exit === 0 ? 1 : report.exit
  })
}

function problemWith(which: string, found: readonly Found[]): Error {
  if (found.length === 0)
    return new CommandError(
      `no receipt \`${which}\` in the pack`,
      '`tollgate pack list PACK` shows its receipts',
    )
  return new CommandError(
    `more than one receipt id starts with \`${which}\``,
    ...found.map(({ entry }) => `${entry.id.slice(0, 16)}: ${entry.receipt.kind}, entry ${entry.index}`),
  )
}

/** A matching receipt, with what came before it in the pack. */
interface Found {
  readonly entry: ShownEntry
  /** The decision of an effect or approval. */
  readonly decision?: DecisionEntry
  /** The name of the policy of a decision. */
  readonly policy?: string
}

/** A receipt with everything in the pack that belongs to it. */
interface Linked extends ShownEntry {
  readonly policy?: string
  readonly decision?: ShownEntry
  readonly escalated?: ShownEntry
  readonly approval?: ApprovalEntry
  readonly effects: readonly ShownEntry[]
}

/** Receipts whose id starts alike that are kept. More are not needed for an error message. */
const MAX_ALIKE = 10

/** Searches one receipt while the pack is read. */
class Search {
  readonly #calls = new PackCalls()
  readonly #index: number | undefined
  readonly #start: string | undefined
  readonly #policies = new Map<string, string>()
  readonly #effects = new Map<string, ShownEntry[]>()
  readonly #alike: Found[] = []
  #atIndex: Found | undefined

  /** @throws UsageError if the text is neither an index nor the start of an id. */
  constructor(which: string) {
    if (/^[0-9]{1,15}$/.test(which)) this.#index = Number(which)
    if (/^[0-9a-f]{8,64}$/.test(which)) this.#start = which
    if (this.#index === undefined && this.#start === undefined) {
      throw new UsageError(
        `\`${shown(which.slice(0, 80))}\` is not the id of a receipt`,
        'give its id, at least 8 digits of it, or its index, as shown by `tollgate pack list PACK`',
      )
    }
  }

  take(entry: ShownEntry): void {
    const { index, id, receipt } = entry
    const call = this.#calls.take(entry)
    if (receipt.kind === 'policy') this.#policies.set(receipt.policy_hash, receipt.name)
    if (receipt.kind === 'effect') this.#effects.get(receipt.decision)?.push(entry)
    const isAlike = this.#start !== undefined && id.startsWith(this.#start)
    if (index !== this.#index && (!isAlike || this.#alike.length >= MAX_ALIKE)) return
    const found = this.#foundAt(entry, call)
    if (index === this.#index) this.#atIndex = found
    else this.#alike.push(found)
  }

  /** Returns the matching receipts. Digits can be an index or the start of an id; the index has priority. */
  found(): readonly Found[] {
    return this.#atIndex ? [this.#atIndex] : this.#alike
  }

  linksOf({ entry, decision, policy }: Found): Linked {
    const approval = this.#calls.approvalFor(entry)
    const escalated =
      approval && approval.receipt.decision !== entry.id
        ? this.#calls.escalated(approval.receipt.decision)
        : undefined
    return {
      ...entry,
      ...(policy !== undefined && { policy }),
      ...(decision && { decision }),
      ...(escalated && { escalated }),
      ...(approval && { approval }),
      effects: this.#effects.get(entry.id) ?? [],
    }
  }

  #foundAt(entry: ShownEntry, call: DecisionEntry | undefined): Found {
    if (entry.receipt.kind !== 'decision') return { entry, ...(call && { decision: call }) }
    this.#effects.set(entry.id, [])
    const policy = this.#policies.get(entry.receipt.policy_hash)
    return { entry, ...(policy !== undefined && { policy }) }
  }
}

function textOf(terminal: Terminal, linked: Linked): string {
  const line = (entry: ShownEntry): string => sentence(entry, terminal.paint)
  const { policy, decision, escalated, approval, effects } = linked
  const rows: (readonly [string, string])[] = [
    ...(linked.receipt.kind === 'decision' ? [['policy', policyText(linked.receipt, policy)] as const] : []),
    ...(decision ? [['decision', line(decision)] as const] : []),
    ...(escalated ? [['escalated', line(escalated)] as const] : []),
    ...(approval ? [['approval', line(approval)] as const] : []),
    ...effects.map((effect) => ['effect', line(effect)] as const),
  ]
  const missing = approval ? '' : answerText(linked, undefined).replace('; ', '')
  if (missing !== '') rows.push(['approval', missing])
  const links = rows.length === 0 ? [] : ['', 'Linked in this pack', pairs(rows)]
  return [detail(linked, terminal.paint), ...links].join('\n')
}

function policyText(receipt: Extract<Receipt, { kind: 'decision' }>, name: string | undefined): string {
  if (/^0+$/.test(receipt.policy_hash)) return 'none was active'
  const hash = receipt.policy_hash.slice(0, 8)
  return name === undefined ? `${hash}; its activation is not in the pack` : `${shown(name)} (${hash})`
}
