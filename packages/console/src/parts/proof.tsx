// The inclusion proof of a receipt, verified here and drawn as the path up the tree.

import type { Receipt } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, askText } from '../api.ts'
import type { Entry } from '../model.ts'
import type { Proven } from '../proof.ts'
import { digits, grouped } from '../text.ts'
import { Fault, Loading } from './state.tsx'
import { Hash } from './words.tsx'

interface ProofProps {
  readonly id: string
  readonly envelope: string
  readonly origin: string
}

/** The proof of one receipt. */
export function Proof({ id, envelope, origin }: ProofProps): JSX.Element {
  const [proven, setProven] = useState<Proven>()
  const [fault, setFault] = useState<unknown>()
  useEffect(() => {
    proofOf(id, envelope, origin).then(setProven, setFault)
  }, [id])
  return (
    <section class="block" aria-label="Proof">
      <h2>Proof</h2>
      {fault !== undefined && (
        <>
          <p class="notice bad">This receipt is not proved. Do not rely on it.</p>
          <Fault fault={fault} />
        </>
      )}
      {!proven && fault === undefined && <Loading rows={2} />}
      {proven && <Verified proven={proven} />}
    </section>
  )
}

async function proofOf(id: string, envelope: string, origin: string): Promise<Proven> {
  const [proof, keys, { prove }] = await Promise.all([
    askText(`/v1/receipts/${id}/proof`),
    keyReceipts(),
    // Loaded only here: most visits need no proof.
    import('../proof.ts'),
  ])
  return prove({ envelope, proof, origin, keys })
}

async function keyReceipts(): Promise<readonly Receipt[]> {
  const pages = await Promise.all(
    ['genesis', 'key'].map((kind) =>
      ask<{ readonly receipts: readonly Entry[] }>('/v1/receipts', {
        query: { kind, direction: 'on', limit: 1000 },
      }),
    ),
  )
  return pages.flatMap(({ receipts }) => receipts.map(({ receipt }) => receipt))
}

function Verified({ proven }: { readonly proven: Proven }): JSX.Element {
  const { index, size, root, steps } = proven
  return (
    <>
      <p class="proved">
        <span class="chip good">verified in this browser</span> Entry {grouped(index)} of {grouped(size)}.{' '}
        {steps.length} hashes lead to the root that the ledger has signed.
      </p>
      <Path proven={proven} />
      <p class="soft">
        Root <Hash hash={root} label="the root" /> The keys come from this gateway. To trust them, compare a
        pack with your trust file: <code>tollgate verify</code>.
      </p>
    </>
  )
}

const STEP = 40
const WIDTH = 320
const MIDDLE = WIDTH / 2
const ARM = 96

function Path({ proven }: { readonly proven: Proven }): JSX.Element {
  const { steps, leaf } = proven
  const height = (steps.length + 1) * STEP
  const y = (level: number): number => height - level * STEP - STEP / 2
  return (
    <svg
      class="path"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={`Path of ${steps.length} steps from the receipt to the root`}
    >
      {steps.map(({ beside, side }, level) => {
        const x = side === 'left' ? MIDDLE - ARM : MIDDLE + ARM
        return (
          <g key={beside}>
            <path class="edge" d={`M${MIDDLE} ${y(level)}V${y(level + 1)}`} />
            <path class="edge soft-edge" d={`M${x} ${y(level)}L${MIDDLE} ${y(level + 1)}`} />
            <Node x={x} y={y(level)} text={digits(beside)} kind="beside" />
          </g>
        )
      })}
      <Node x={MIDDLE} y={y(0)} text={digits(leaf)} kind="leaf" />
      {steps.map(({ hash }, level) => (
        <Node
          key={hash}
          x={MIDDLE}
          y={y(level + 1)}
          text={digits(hash)}
          kind={level === steps.length - 1 ? 'root' : 'own'}
        />
      ))}
    </svg>
  )
}

interface NodeProps {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly kind: 'leaf' | 'own' | 'root' | 'beside'
}

function Node({ x, y, text, kind }: NodeProps): JSX.Element {
  return (
    <g class={`node ${kind}`}>
      <rect x={x - 38} y={y - 11} width="76" height="22" rx="5" />
      <text x={x} y={y + 4}>
        {text}
      </text>
    </g>
  )
}
