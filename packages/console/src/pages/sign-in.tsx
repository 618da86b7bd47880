// Sign-in with a token. The token is sent once; the browser keeps only a cookie that no script can read.

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Mark } from '../parts/icon.tsx'
import { Fault } from '../parts/state.tsx'
import { endedBecause, signIn } from '../person.ts'

/** The page of a person who is not signed in. */
export function SignInPage(): JSX.Element {
  const [fault, setFault] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (token === '') return
    setBusy(true)
    setFault(undefined)
    try {
      await signIn(token)
    } catch (cause) {
      setFault(cause)
      setBusy(false)
      field.current?.select()
    }
  }

  return (
    <main class="sign-in">
      <form class="card" onSubmit={(event) => void submit(event)}>
        <div class="brand">
          <Mark />
          <span>Tollgate</span>
        </div>
        <h1>Sign in</h1>
        {endedBecause.value !== undefined && fault === undefined && (
          <p class="notice" role="status">
            {endedBecause}
          </p>
        )}
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          placeholder="tg_operator_…"
          aria-describedby="token-help"
        />
        <p id="token-help" class="soft">
          The token of a person: <code>operator</code>, <code>admin</code> or <code>auditor</code>. An admin
          issues it with <code>tollgate tokens issue</code>.
        </p>
        {fault !== undefined && <Fault fault={fault} />}
        <button type="submit" class="button primary" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}
