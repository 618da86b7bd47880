// Evidence: export a pack, and verify one in this page.

import type { Report } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { Fault } from '../parts/state.tsx'
import { person } from '../person.ts'
import { grouped, line } from '../text.ts'

/** The page of evidence. */
export function EvidencePage(): JSX.Element {
  return (
    <div class="narrow">
      <header class="page-head">
        <h1>Evidence</h1>
        <p class="soft">A pack is a part of the ledger that anyone can verify without this gateway.</p>
      </header>
      {person.value?.role !== 'operator' && <ExportForm />}
      <VerifyForm />
    </div>
  )
}

const PERIODS = [
  { name: 'everything', hours: 0 },
  { name: 'the last hour', hours: 1 },
  { name: 'the last day', hours: 24 },
  { name: 'the last week', hours: 168 },
] as const

function ExportForm(): JSX.Element {
  const [hours, setHours] = useState(0)
  const [session, setSession] = useState('')
  const [principal, setPrincipal] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<unknown>()

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const since = hours === 0 ? undefined : new Date(Date.now() - hours * 3_600_000).toISOString()
      const given = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim())
      const query = { since, session: given(session), principal: given(principal) }
      const response = await send('/v1/evidence/export', { query })
      const name = /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
      save(name ?? 'ledger.pack', await response.blob())
    } catch (cause) {
      setFault(cause)
    }
    setBusy(false)
  }

  return (
    <section class="block">
      <h2>Export</h2>
      <form class="try" onSubmit={(event) => void submit(event)}>
        <label>
          Time
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {PERIODS.map((each) => (
              <option key={each.name} value={each.hours}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>
            Principal <span class="soft">(optional)</span>
          </span>
          <input type="text" value={principal} onInput={(event) => setPrincipal(event.currentTarget.value)} />
        </label>
        <label>
          <span>
            Session <span class="soft">(optional)</span>
          </span>
          <input type="text" value={session} onInput={(event) => setSession(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button" disabled={busy}>
          {busy ? 'Exporting …' : 'Export a pack'}
        </button>
      </form>
      {fault !== undefined && <Fault fault={fault} />}
    </section>
  )
}

function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const TONES: Readonly<Record<Report['level'], string>> = {
  witnessed: 'good',
  verified: 'good',
  'integrity only': 'warn',
  failed: 'bad',
  malformed: 'bad',
}

const MEANING: Readonly<Record<Report['level'], string>> = {
  witnessed: 'The pack is genuine and complete, and independent witnesses have seen the same ledger.',
  verified: 'The pack is genuine and complete.',
  'integrity only': 'The pack is consistent, but its origin is not proved. Add the trust file of the ledger.',
  failed: 'Do not rely on this pack. Its contents are unverified claims.',
  malformed: 'This is not a pack, or it was damaged.',
}

function VerifyForm(): JSX.Element {
  const [pack, setPack] = useState<File>()
  const [trust, setTrust] = useState<File>()
  const [done, setDone] = useState<number>()
  const [report, setReport] = useState<Report>()
  const [fault, setFault] = useState<unknown>()

  async function check(newPack: File | undefined, newTrust: File | undefined): Promise<void> {
    setPack(newPack)
    setTrust(newTrust)
    setReport(undefined)
    setFault(undefined)
    if (!newPack) return
    setDone(0)
    try {
      // Loaded only here: most visits verify nothing.
      const { verify } = await import('../verify.ts')
      setReport(await verify(newPack, newTrust, setDone))
    } catch (cause) {
      setFault(cause)
    }
    setDone(undefined)
  }

  return (
    <section
      class="block drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        const files = [...(event.dataTransfer?.files ?? [])]
        const isTrust = (file: File): boolean => file.name.endsWith('.json')
        void check(files.find((file) => !isTrust(file)) ?? pack, files.find(isTrust) ?? trust)
      }}
    >
      <h2>Verify</h2>
      <p>Choose a pack, or drop it here, with the trust file of its ledger. Both stay in this browser.</p>
      <div class="try">
        <label>
          Pack
          <input type="file" onChange={(event) => void check(event.currentTarget.files?.[0], trust)} />
        </label>
        <label>
          <span>
            Trust file <span class="soft">(optional)</span>
          </span>
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => void check(pack, event.currentTarget.files?.[0])}
          />
        </label>
      </div>
      {done !== undefined && <progress aria-label="Verification" max={pack?.size ?? 1} value={done} />}
      {fault !== undefined && <Fault fault={fault} />}
      {report && <Shown report={report} />}
    </section>
  )
}

function Shown({ report }: { readonly report: Report }): JSX.Element {
  const { level, findings, proved, not_proved: unproved, tree_size: size, ledger } = report
  return (
    <div role="status" class="report">
      <p>
        <span class={`chip ${TONES[level]}`}>{level.toUpperCase()}</span> {MEANING[level]}
      </p>
      {ledger !== undefined && (
        <p class="soft">
          {line(ledger)}, {grouped(size ?? 0)} entries
        </p>
      )}
      {findings.length > 0 && <h3>Found</h3>}
      <ul class="asks bad">
        {findings.slice(0, 20).map(({ code, index, sentence }, i) => (
          <li key={i}>
            <code>{line(code)}</code>
            {index !== undefined && ` at entry ${index}`}: {line(sentence)}
          </li>
        ))}
      </ul>
      {findings.length > 20 && <p class="soft">and {findings.length - 20} more</p>}
      {proved.length > 0 && <h3>Proved</h3>}
      <ul class="proved-list">
        {proved.map((each) => (
          <li key={each}>{line(each)}</li>
        ))}
      </ul>
      <h3>Not proved</h3>
      <ul class="proved-list soft">
        {unproved.map((each) => (
          <li key={each}>{line(each)}</li>
        ))}
      </ul>
    </div>
  )
}
