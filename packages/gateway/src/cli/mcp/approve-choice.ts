// Asks a person which of the shown tools and faculties to approve. Tools are one question; each group of faculties is its own.

import type { ShownTool } from '../../tools/listing.ts'
import { serverOf } from '../../tools/offer.ts'
import { canAsk, confirm } from '../program/confirm.ts'
import { shown } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'
import { FACULTY_GROUPS, FACULTY_TEXTS, groupOf, type FacultyGroup } from './faculties.ts'

interface ChoiceOptions {
  readonly yes?: boolean
  readonly also?: readonly (FacultyGroup | 'all')[]
}

/** Returns what the person approves. @throws UsageError without a terminal and without `--yes`. */
export async function chosenOf(
  terminal: Terminal,
  all: readonly ShownTool[],
  names: readonly string[],
  options: ChoiceOptions,
): Promise<readonly ShownTool[]> {
  if (options.yes !== true && !canAsk()) {
    throw new UsageError(
      'approval needs a confirmation, and this is not a terminal',
      'add `--yes` after you have read the text above',
    )
  }
  // A faculty that was named is approved like a tool.
  const isPlain = ({ tool }: ShownTool): boolean => groupOf(tool) === undefined || names.includes(tool)
  const tools = all.filter(isPlain)
  const chosen = tools.length > 0 && (await isWanted(questionOf(tools), options)) ? [...tools] : []
  const rest = all.filter((each) => !isPlain(each))
  for (const server of new Set(rest.map(({ tool }) => serverOf(tool)))) {
    const own = rest.filter(({ tool }) => serverOf(tool) === server)
    chosen.push(...(await facultiesOf(terminal, server, own, options)))
  }
  return chosen
}

function questionOf(tools: readonly ShownTool[]): string {
  return `approve ${tools.length === 1 ? shown(tools[0]?.tool ?? '') : `these ${tools.length} tools`}?`
}

async function isWanted(question: string, { yes }: ChoiceOptions): Promise<boolean> {
  return yes === true || confirm(question)
}

async function facultiesOf(
  terminal: Terminal,
  server: string,
  all: readonly ShownTool[],
  { yes, also = [] }: ChoiceOptions,
): Promise<readonly ShownTool[]> {
  const chosen: ShownTool[] = []
  const blocked: FacultyGroup[] = []
  for (const group of FACULTY_GROUPS) {
    const own = all.filter(({ tool }) => groupOf(tool) === group)
    if (own.length === 0) continue
    const isNamed = also.includes(group) || also.includes('all')
    const asked = `${shown(server)}: ${FACULTY_TEXTS[group]}. Approve ${group}?`
    // On a terminal nothing is approved without its question.
    if (yes === true ? isNamed : await confirm(asked)) chosen.push(...own)
    else blocked.push(group)
  }
  for (const group of yes === true ? blocked : []) {
    terminal.say(
      `\`${shown(server)}\` may not use ${group} (${FACULTY_TEXTS[group]}); approve with \`--also ${group}\``,
    )
  }
  return chosen
}
