// Gateways with a wrong ledger or wrong evidence.

import { evidence, gateway, kernel, type Broken } from './edits.ts'

/** The store writes half a second later, so that an early answer comes before it, on a machine of any speed. */
const SLOW_STORE = kernel(
  'ledger/ledger.js',
  'await this.#options.store.write(batch);',
  `if (globalThis.process.argv.includes('serve'))
                await new Promise((done) => setTimeout(done, 500));
            await this.#options.store.write(batch);`,
)
const EARLY_ANSWER = kernel(
  'ledger/ledger.js',
  'this.#waiting.done.push(() => resolve(result));',
  `this.#waiting.done.push(() => resolve(result));
            if (globalThis.process.argv.includes('serve'))
                resolve(result);`,
)

export const BROKEN_EVIDENCE: readonly Broken[] = [
  {
    name: 'does not link receipts',
    caught: 'E1',
    edits: [evidence('chain.js', 'prev_receipt_hash: head?.id ?? NO_HASH,', 'prev_receipt_hash: NO_HASH,')],
  },
  {
    name: 'counts Lamport clocks by two',
    caught: 'E1',
    edits: [
      evidence(
        'chain.js',
        'lamport_clock: Math.max(head?.lamport_clock ?? 0, ...causes) + 1',
        'lamport_clock: Math.max(head?.lamport_clock ?? 0, ...causes) + (head ? 2 : 1)',
      ),
    ],
  },
  {
    name: 'leaves causes out of the receipts of effects',
    caught: 'E6',
    edits: [
      kernel(
        'road/effects.js',
        'turn.append({ causes: [opening], anchors',
        'turn.append({ causes: [], anchors',
      ),
    ],
  },
  {
    name: 'answers denials with receipts that are not in the ledger',
    caught: 'E3',
    edits: [
      gateway(
        'verdict.js',
        'receipt: decided.receipt ?? null',
        "receipt: decided.verdict === 'DENY' ? 'ab'.repeat(32) : decided.receipt",
      ),
    ],
  },
  {
    name: 'answers before the decision is durable',
    caught: 'K1',
    edits: [SLOW_STORE, EARLY_ANSWER],
  },
  {
    name: 'sends a call to its server before the decision is durable',
    caught: 'D3',
    edits: [SLOW_STORE, EARLY_ANSWER],
  },
  {
    name: 'does not close the calls that a kill left open',
    caught: 'K2',
    edits: [kernel('road/closing.js', 'if (kernel.openings.size === 0)\n        return;', 'return;')],
  },
  {
    name: 'puts arguments into receipts',
    caught: 'E9',
    edits: [
      kernel(
        'road/decision.js',
        'tool: intent.tool,',
        'tool: intent.tool + Object.keys(intent.args ?? {}).join(),',
      ),
    ],
  },
  {
    name: 'sends each event of a stream twice',
    caught: 'E11',
    edits: [
      gateway(
        'api/stream.js',
        'for (const entry of page.entries) {',
        'for (const entry of page.entries.flatMap((each) => [each, each])) {',
      ),
    ],
  },
  {
    name: 'begins a stream again at an entry that the reader has',
    caught: 'E11',
    edits: [gateway('api/stream.js', 'return Number(last) + 1;', 'return Number(last);')],
  },
]
