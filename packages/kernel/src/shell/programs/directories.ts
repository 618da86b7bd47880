// `cd` and its relatives.

import { exactText, type Field } from '../script/field.ts'
import { either, type Cwds, type ShellOutcome, type Shell } from '../script/shell.ts'

// Longer than any path that a system accepts.
const MAX_LENGTH = 4096

/** `cd`, `pushd`. */
export function goTo(args: readonly Field[], shell: Shell): ShellOutcome {
  const isPhysical = args.some(({ text }) => /^-[Le@]*P/.test(text))
  const [field, ...others] = args.filter(
    ({ text }, i) => !/^-[LPe@n]+$/.test(text) && !(text === '--' && i < args.length - 1),
  )
  const bad = shell.cwds
  const ok =
    others.length > 0 || (isPhysical && field?.text.includes('..') === true)
      ? undefined
      : targets(field, shell)
  shell.past = [...new Set([...shell.past, ...(bad ?? []), ...(ok ?? [])])]
  return { ok, bad }
}

/** `popd`: to any directory that the shell was in. */
export function goBack(_: readonly Field[], shell: Shell): ShellOutcome {
  return { ok: before(shell), bad: shell.cwds }
}

function before({ past, cwds }: Shell): Cwds {
  return past.length === 0 || !cwds ? undefined : past
}

function targets(field: Field | undefined, shell: Shell): Cwds {
  const isHome = field === undefined
  const { home, cwds, names } = shell
  if (!names.isUntouched('CDPATH')) return undefined
  if (isHome) return home === undefined || !names.isUntouched('HOME') ? undefined : [home]
  const path = exactText(field)
  if (path === '-' || (path !== undefined && /^[-+]\d+$/.test(path))) return before(shell)
  if (path === undefined || path === '' || path.length > MAX_LENGTH) return undefined
  if (path.startsWith('/')) return both('', path)
  return cwds?.map((cwd) => both(cwd, path)).reduce<Cwds>((all, more) => either(all, more), [])
}

/** A shell leaves `..` out of the path before it asks the disk. If there is a link before it, the result differs. */
function both(cwd: string, path: string): Cwds {
  const names: string[] = cwd.split('/').filter((name) => name !== '')
  let isUncertain = false
  const given = path.split('/')
  for (const [i, name] of given.entries()) {
    if (name === '..') {
      if (i > 0 && given[i - 1] !== '..') isUncertain = true
      names.pop()
    } else if (name !== '' && name !== '.') names.push(name)
  }
  const plain = `/${names.join('/')}`
  return isUncertain ? [plain, `${cwd}/${path}`.replace(/^\/\/+/, '/')] : [plain]
}
