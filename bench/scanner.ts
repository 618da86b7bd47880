// Measures the threat scanner: how much injected text of unseen wording it flags, and how much ordinary text.

import { readFileSync } from 'node:fs'
import { isHard, scanText } from '@tollgate/kernel/detection'
import type { Row } from './measure.ts'

interface Text {
  readonly split?: string
  readonly text: string
}

// eslint-disable-next-line @typescript-eslint/require-await -- the other areas wait for something
export async function* scannerRows(say: (line: string) => void): AsyncGenerator<Row> {
  say('scanner: reading texts …')
  const attacks = textsOf('attacks')
  for (const split of ['tuning', 'held-out']) {
    const own = attacks.filter((each) => each.split === split)
    yield row(`injected text flagged, wordings ${split}`, own, undefined)
  }
  for (const kind of ['prose', 'web', 'languages', 'code', 'security']) {
    yield row(`ordinary text flagged, ${kind}`, textsOf(kind), 0.005)
  }
}

function row(name: string, texts: readonly Text[], most: number | undefined): Row {
  const share = texts.filter(({ text }) => scanText(text).some(isHard)).length / texts.length
  const target = most === undefined ? 'as many as possible' : `≤ ${100 * most} %`
  const pass = most === undefined || share <= most
  return { area: 'scanner', name, value: 100 * share, unit: '%', floor: null, ratio: null, target, pass }
}

function textsOf(name: string): readonly Text[] {
  const file = new URL(`replay/texts/${name}.jsonl`, import.meta.url)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  // Sound: `wordings.test.ts` checks each line of these files.
  return lines.map((line) => JSON.parse(line) as Text)
}
