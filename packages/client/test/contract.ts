// Runs the table of `contract-cases.ts` with a client, against the stand-in.

import { describe, expect, it } from 'vitest'
import type { Json } from '../../evidence/src/index.ts'
import { CONTRACT, RESULT, SECRET, type ContractCase } from './contract-cases.ts'
import type { Fault } from './stand-in-faults.ts'
import { AGENT_TOKEN, OPERATOR_TOKEN, startStandIn, type Asked } from './stand-in.ts'

/** One call to make. */
export interface ContractCall {
  readonly url: string
  readonly token: string
  readonly operatorToken: string
  readonly tool: string
  readonly arguments: { readonly path: string }
  readonly does: NonNullable<ContractCase['does']>
  readonly retries: number
  readonly wait: number | false
  readonly person: ContractCase['person']
  readonly onDenied: 'throw' | 'return'
  readonly onUnreported: 'throw' | 'return'
}

/** How the call ended. */
export interface ContractEnd {
  /** The arguments of each run of the tool. */
  readonly runs: readonly Json[]
  /** `returned`, or the code of the error. */
  readonly ends: string
  /** The result, or the members of the error. */
  readonly gives: unknown
  /** Everything of the outcome that a log or a framework could show. */
  readonly shown: string
}

/** Makes a call with a client. */
export type ContractClient = (call: ContractCall) => Promise<ContractEnd>

/** Registers one test for each case. */
export function contractTests(name: string, client: ContractClient): void {
  describe(name, () => {
    it.each(CONTRACT)('$title', (each) => hold(client, each))
  })
}

const ARGUMENTS = { path: 'notes.txt' }

async function hold(client: ContractClient, each: ContractCase): Promise<void> {
  const { inspected = { delivery: 'full' as const } } = each
  const gateway = await startStandIn({ fault: faultsOf(each.faults ?? {}), inspect: () => inspected })
  try {
    const end = await client(callOf(each, gateway.url))
    expect({ ends: end.ends, runs: end.runs }).toEqual({
      ends: each.ends,
      runs: each.runs === 1 ? [ARGUMENTS] : [],
    })
    if (each.gives !== undefined) expect(end.gives).toMatchObject(each.gives)
    const effects = gateway.receipts('effect').map(({ status }) => status)
    expect(effects).toEqual(each.effect === undefined ? [] : [each.effect])
    expect(end.shown).not.toContain(AGENT_TOKEN)
    if (each.ends !== 'returned') expect(end.shown).not.toContain(SECRET)
  } finally {
    await gateway.close()
  }
}

function callOf(each: ContractCase, url: string): ContractCall {
  const { tool = 'fs/read_file', does = { returns: RESULT }, retries = 2, wait = 60_000, person } = each
  const { onDenied = 'throw', onUnreported = 'throw' } = each
  const tokens = { token: AGENT_TOKEN, operatorToken: OPERATOR_TOKEN }
  return { url, ...tokens, tool, arguments: ARGUMENTS, does, retries, wait, person, onDenied, onUnreported }
}

/** The faults in their order. */
function faultsOf(table: NonNullable<ContractCase['faults']>): (asked: Asked) => Fault | undefined {
  const left = new Map(Object.entries(table).map(([path, faults]) => [path, [...faults]]))
  return ({ path }) => {
    const faults = left.get(path)
    const next = faults?.[1] === 'always' ? faults[0] : faults?.shift()
    return next === 'always' ? undefined : next
  }
}
