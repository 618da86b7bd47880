// The text of the policy around the rule that decided, with that rule marked.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadPolicy, type ShownPolicy } from '../policy.ts'
import { digits, line, shown } from '../text.ts'

interface RuleTextProps {
  readonly rule: string
  /** The hash of the policy that decided. */
  readonly hash: string
}

const AROUND = 3

/** The rule in the policy, if this policy is in force. */
export function RuleText({ rule, hash }: RuleTextProps): JSX.Element {
  const [policy, setPolicy] = useState<ShownPolicy>()
  useEffect(() => {
    loadPolicy().then(setPolicy, () => undefined)
  }, [])
  const lines = policy?.hash === hash ? policy.text.split('\n') : undefined
  const place = lines && placeOf(lines, rule)
  return (
    <section class="block" aria-label="Rule">
      <h2>Rule</h2>
      <p>
        <code>{line(rule)}</code> of the policy <code>{digits(hash)}</code>
      </p>
      {policy && !lines && (
        <p class="soft">Another policy is in force now. Export a pack to read the text of this one.</p>
      )}
      {lines && place && (
        <pre class="json policy">
          {lines.slice(Math.max(0, place.start - AROUND), place.end + AROUND).map((text, i) => {
            const number = Math.max(0, place.start - AROUND) + i
            const isMarked = number >= place.start && number < place.end
            return (
              <span key={number} class={isMarked ? 'policy-line marked' : 'policy-line'}>
                <span class="policy-number" aria-hidden="true">
                  {number + 1}
                </span>
                {isMarked ? <mark>{shown(text)}</mark> : shown(text)}
              </span>
            )
          })}
        </pre>
      )}
    </section>
  )
}

/** The lines of a rule: from its dash to the next one of the same depth, or to a line that is less deep. */
function placeOf(
  lines: readonly string[],
  rule: string,
): { readonly start: number; readonly end: number } | undefined {
  const name = rule.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const found = lines.findIndex((text) => new RegExp(`\\bid: *['"]?${name}['"]?(?: *[,}]| *$)`).test(text))
  if (found < 0) return undefined
  let start = found
  while (start > 0 && !/^\s*-/.test(lines[start] ?? '')) start--
  const depth = (lines[start] ?? '').search(/\S/)
  let end = start + 1
  while (end < lines.length && (lines[end] ?? '').search(/\S/) > depth) end++
  return { start, end }
}
