// Declares `tollgate browser` and `tollgate sentinel`.

import type { To } from '../commands.ts'
import { local, whole } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `browser`. */
export function addBrowser(program: Command, to: To): void {
  local(program, 'browser')
    .summary('show the guarded browsers of browser agents, and how to see their window')
    .description(
      'The gateway starts a Chromium for each agent that uses a browser server (`browser: playwright` or `browser: devtools` in `tollgate.yaml`, or `tollgate setup browser` for MCP clients). It observes the page before and after each call, and all connections of the browser obey the policy. This command shows which Chromium and which servers. It starts nothing. A browser that is already running cannot be attached, because the gateway would not control its network.\n\nExit code: 0 there is a Chromium, 1 there is none.',
    )
    .examples(
      ['tollgate browser', ''],
      ['tollgate setup browser --domain shop.example.com', 'for your MCP clients'],
    )
    .action(to(async () => (await import('./browser.ts')).runBrowser))
}

/** Adds `sentinel`. */
export function addSentinel(program: Command, to: To): void {
  const sentinel = program
    .command('sentinel')
    .summary('scan web pages for hidden text and for text that directs an agent')
    .description('The same scan that guards browser agents. Needs no gateway and no data directory.')
  sentinel
    .command('scan')
    .summary('scan pages and report what a person cannot see and an agent can')
    .description(
      'Opens each page in Chromium, headless and with a new profile, and reports the risk from 0 to 100 and every finding. A file is opened without network, an address with it. Chromium is TOLLGATE_BROWSER, or the first one on your PATH. Without Chromium, or with `--static`, only the HTML is read: this is weaker, and what a style sheet or a script could hide is unknown.\n\nExit code: 0 no page exceeds the limit, 1 a page exceeds it or could not be scanned, 2 wrong usage.',
    )
    .argument('<page...>', 'paths of HTML files, or addresses that begin with http:// or https://')
    .option('--static', 'read only the HTML, without a browser')
    .addOption(
      whole('--max-risk <n>', 'the highest risk that is not reported as a failure', 0, 100).default(70),
    )
    .option('--text', 'also print the text that a person could read')
    .option('--annotate <file>', 'draw the findings on a picture of the page; only for one page')
    .option('--json', 'print one line of JSON for each page')
    .examples(
      ['tollgate sentinel scan page.html', ''],
      ['tollgate sentinel scan https://example.com --annotate page.png', 'with a picture of the findings'],
      ['tollgate sentinel scan pages/*.html --json > readings.jsonl', 'one line for each page'],
    )
    .action(to(async () => (await import('./scan.ts')).runScan))
}
