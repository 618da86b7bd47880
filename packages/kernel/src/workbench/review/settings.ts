// Finds gate settings that can never match.

import type { HostPattern } from '../../destinations/pattern.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import type { RemarkNote, RemarkPath } from './remark.ts'

/** Labels that scanners set. */
const BUILT_IN: readonly string[] = ['secret', 'personal', 'card', 'page', 'flagged']

/** Finds labels in settings that no data can have. */
export function labelNotes({ tools, gates }: Policy): readonly RemarkNote[] {
  const given = new Set([
    ...BUILT_IN,
    ...tools.flatMap(({ returns, takes }) => [...returns, ...takes.flatMap(({ labels }) => labels)]),
  ])
  const strange = (labels: readonly string[], path: RemarkPath): readonly RemarkNote[] =>
    labels.flatMap((label, i) => (given.has(label) ? [] : [labelNote(label, [...path, i], false)]))
  const { taint, compliance } = gates
  const results = [...(taint?.results.keys() ?? [])].filter((label) => !given.has(label))
  return [
    ...strange(taint?.deny ?? [], ['gates', 'taint', 'deny']),
    ...strange(taint?.ask ?? [], ['gates', 'taint', 'ask']),
    ...results.map((label) => labelNote(label, ['gates', 'taint', 'results', label], true)),
    ...(compliance?.rules ?? []).flatMap(({ labels }, i) =>
      strange(labels, ['gates', 'compliance', 'rules', i, 'labels']),
    ),
  ]
}

function labelNote(label: string, path: RemarkPath, named: boolean): RemarkNote {
  return {
    path,
    named,
    code: 'LABEL_UNKNOWN',
    message: `no data ever has the label \`${label}\``,
    remedy: `correct the name, or set the label with \`returns\` or \`takes\` of a tool; the built-in labels are ${BUILT_IN.join(', ')}`,
  }
}

/** Finds hostnames on two lists, of which only the stronger counts. */
export function hostNotes({ gates }: Policy): readonly RemarkNote[] {
  const { deny, allow, ask } = gates.egress
  const denied = new Set(deny.map(keyOf))
  const allowed = new Set(allow.map(keyOf))
  return [
    ...twice(allow, 'allow', denied, 'deny'),
    ...twice(ask, 'ask', denied, 'deny'),
    ...twice(ask, 'ask', allowed, 'allow'),
  ]
}

function twice(
  hosts: readonly HostPattern[],
  list: string,
  stronger: ReadonlySet<string>,
  name: string,
): readonly RemarkNote[] {
  return hosts.flatMap((host, i) => {
    if (!stronger.has(keyOf(host))) return []
    return [
      {
        path: ['gates', 'egress', list, i],
        code: 'HOST_COVERED' as const,
        message: `the hostname is in both \`${list}\` and \`${name}\`; \`${name}\` takes precedence`,
        remedy: `remove it from \`${list}\`, which changes nothing, or from \`${name}\` to make \`${list}\` take effect`,
      },
    ]
  })
}

function keyOf(pattern: HostPattern): string {
  return JSON.stringify(pattern)
}
