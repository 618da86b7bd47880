// The verdict on the pack, in the words of the terminal report.

import type { Finding, Level, Report } from '../../../packages/evidence/src/index.ts'
import { about, RESULT } from '../../../packages/evidence/node/print.ts'
import { button, byId, grouped, make, save } from './dom.ts'

const SHOWN_FINDINGS = 12

/** The tone of each level: only what is proved under a trust file is good. */
const TONE: Readonly<Record<Level, 'good' | 'warn' | 'bad'>> = {
  witnessed: 'good',
  verified: 'good',
  'integrity only': 'warn',
  failed: 'bad',
  malformed: 'bad',
}

/** What to think of the receipts below, by level. */
const ADVICE: Readonly<Record<Level, string>> = {
  witnessed: '',
  verified: '',
  'integrity only':
    'Anyone could have made this pack with a new key. Drop the trust file of the ledger on this page to learn whose pack it is.',
  failed: 'Do not rely on this pack. Its contents below are unverified claims.',
  malformed: 'Do not rely on this pack. Its contents below are unverified claims.',
}

/** The few words that stay beside the receipts. */
const STANDING: Readonly<Record<Level, string>> = {
  witnessed: 'verified',
  verified: 'verified',
  'integrity only': 'origin not proved',
  failed: 'unverified claims',
  malformed: 'unverified claims',
}

/** The part of the page that shows the verdict. */
export class VerdictPanel {
  readonly #panel = byId('verdict', HTMLElement)
  readonly #announce = byId('announce', HTMLElement)
  readonly #standing = byId('standing', HTMLElement)
  readonly #openEntry: (index: number) => void
  #bar: HTMLProgressElement | undefined
  #line: HTMLElement | undefined
  #subject = ''

  constructor(openEntry: (index: number) => void) {
    this.#openEntry = openEntry
  }

  /** Says that a verification is under way. `subject` names its files. Nothing of an earlier verdict stays. */
  begin(subject: string): void {
    this.#subject = subject
    this.#bar = make('progress', { label: 'Verification' })
    this.#line = make('p', { text: 'Reading the files …' })
    this.#set('busy', 'checking', make('p', { class: 'level', text: 'CHECKING' }), this.#bar, this.#line)
    this.#announce.textContent = 'The verification has started.'
  }

  progress(bytes: number, total: number, receipts: number): void {
    if (!this.#bar || !this.#line) return
    this.#bar.max = Math.max(total, 1)
    this.#bar.value = Math.min(bytes, total)
    const percent = Math.floor((100 * Math.min(bytes, total)) / Math.max(total, 1))
    this.#line.textContent = `${percent} %, ${grouped(receipts)} receipts`
  }

  /** Says that there is no report, and why. */
  stop(why: string): void {
    const level = make('p', { class: 'level', text: 'NOT CHECKED' })
    const advice = make('p', { class: 'advice', text: 'Nothing is proved about this pack.' })
    this.#set('bad', 'unverified claims', level, make('p', { class: 'say', text: why }), advice)
    this.#announce.textContent = `Not checked. ${why}`
  }

  /** Shows a report. `newTrust` is the trust file for the next time. */
  show(report: Report, newTrust: string | undefined): void {
    const { level } = report
    const [word = '', say = ''] = splitAnswer(RESULT[level])
    this.#set(
      TONE[level],
      STANDING[level],
      make('p', { class: 'level', text: word }),
      ...(say === ''
        ? []
        : [make('p', { class: 'say', text: `${say.charAt(0).toUpperCase()}${say.slice(1)}.` })]),
      ...(ADVICE[level] === '' ? [] : [make('p', { class: 'advice', text: ADVICE[level] })]),
      listOf('about', [this.#subject, ...about(report)]),
      this.#lists(report),
      actions(report, newTrust),
    )
    this.#panel.dataset.level = level
    this.#announce.textContent = `${RESULT[level]}. ${ADVICE[level]}`
  }

  #set(tone: string, standing: string, ...children: readonly Node[]): void {
    this.#panel.hidden = false
    this.#panel.className = tone
    this.#panel.dataset.level = ''
    this.#panel.replaceChildren(...children)
    this.#standing.className = `standing chip ${tone}`
    this.#standing.textContent = standing
  }

  #lists(report: Report): HTMLElement {
    const { findings, proved, not_proved } = report
    const lists = make('div', { class: 'lists' })
    if (findings.length > 0) lists.append(this.#found(report))
    if (proved.length > 0) lists.append(titled('Proved', listOf('proved', proved)))
    lists.append(titled('Not proved', listOf('not-proved', not_proved)))
    return lists
  }

  #found({ findings, more_findings }: Report): HTMLElement {
    const list = make('ul', { class: 'findings' })
    const draw = (count: number): void =>
      list.replaceChildren(...findings.slice(0, count).map((finding) => this.#finding(finding)))
    draw(SHOWN_FINDINGS)
    const block = titled('Found', list)
    if (findings.length > SHOWN_FINDINGS) {
      const all = button(`Show all ${findings.length} findings`, () => {
        draw(findings.length)
        all.remove()
      })
      block.append(all)
    }
    if (more_findings > 0) block.append(make('p', { text: `… and ${more_findings} more` }))
    return block
  }

  #finding({ code, index, member, sentence }: Finding): HTMLElement {
    const item = make('li', {}, make('code', { text: code }))
    if (index !== undefined) {
      item.append(
        ' at ',
        button(`entry ${index}`, () => this.#openEntry(index), { class: 'link' }),
      )
    }
    if (index === undefined && member !== undefined) item.append(' in ', make('code', { text: member }))
    item.append(': ', make('span', { text: sentence }))
    return item
  }
}

function splitAnswer(answer: string): readonly string[] {
  const at = answer.indexOf(': ')
  return at < 0 ? [answer] : [answer.slice(0, at), answer.slice(at + 2)]
}

function titled(title: string, ...children: readonly Node[]): HTMLElement {
  return make('div', {}, make('h3', { text: title }), ...children)
}

function listOf(name: string, lines: readonly string[]): HTMLElement {
  return make('ul', { class: name }, ...lines.map((text) => make('li', { text })))
}

function actions(report: Report, newTrust: string | undefined): HTMLElement {
  const line = make('p', { class: 'actions' })
  line.append(button('Save the report', () => save('report.json', `${JSON.stringify(report, null, 2)}\n`)))
  if (newTrust !== undefined) {
    line.append(
      button('Save a trust file with this checkpoint', () => save('trust.json', newTrust), {
        title: 'Use it next time: it also reveals a ledger whose newest entries were removed.',
      }),
    )
  }
  return line
}
