// `chrome-devtools-mcp`, as of 1.11: its tools, and how it is led to the gateway's browser.

import type { Adapter, BrowserTool } from './adapters.ts'
import { BLIND, EXECUTES, MANAGES, on, OPENS, READS, UPLOADS, without, WRITES } from './tool-rows.ts'

// The content would go to a file, where no result is inspected.
const INLINE = without(READS, 'filePath')

/**
 * Left out, so not offered: tools for the memory of a page and `lighthouse_audit` write what the page holds to files; extensions and
 * installed apps run beside the page.
 */
const TOOLS: Readonly<Record<string, BrowserTool>> = {
  click: on(WRITES, 'uid'),
  click_at: BLIND,
  close_page: MANAGES,
  drag: on(WRITES, 'from_uid', 'to_uid'),
  emulate: without(MANAGES, 'extraHttpHeaders'),
  evaluate_script: on(without(EXECUTES, 'filePath', 'sourcePath'), 'args[]'),
  fill: on(WRITES, 'uid'),
  fill_form: on(WRITES, 'elements[].uid'),
  get_console_message: READS,
  get_css_styles: on(READS, 'uid'),
  get_network_request: without(READS, 'requestFilePath', 'responseFilePath'),
  handle_dialog: WRITES,
  hover: on(WRITES, 'uid'),
  list_console_messages: without(READS, 'includePreservedMessages'),
  list_network_requests: without(READS, 'includePreservedRequests'),
  list_pages: MANAGES,
  navigate_page: { ...without(OPENS, 'initScript'), history: 'type' },
  new_page: OPENS,
  performance_analyze_insight: READS,
  performance_start_trace: INLINE,
  performance_stop_trace: INLINE,
  press_key: WRITES,
  resize_page: MANAGES,
  screencast_start: INLINE,
  screencast_stop: READS,
  select_page: MANAGES,
  take_screenshot: on(INLINE, 'uid'),
  take_snapshot: INLINE,
  type_text: WRITES,
  upload_file: on(UPLOADS, 'uid'),
  wait_for: READS,
}

/** `chrome-devtools-mcp`. */
export const DEVTOOLS: Adapter = {
  name: 'devtools',
  package: 'chrome-devtools-mcp',
  programs: ['chrome-devtools-mcp'],
  tools: new Map(Object.entries(TOOLS)),
  page: 'pageId',
  refusedOptions: [
    'u',
    'w',
    'e',
    'allowunrestrictedpaths',
    'autoconnect',
    'browserurl',
    'categoryexperimentalthirdparty',
    'categoryexperimentalwebmcp',
    'categoryextensions',
    'categorypwa',
    'channel',
    'chromearg',
    'config',
    'executablepath',
    'experimentaldevtools',
    'experimentalincludeallpages',
    'isolated',
    'proxyserver',
    'userdatadir',
    'wsendpoint',
    'wsheaders',
  ],
  variables: /^CHROME_DEVTOOLS_MCP_/,
  launch: ({ url, headers }, folder) => ({
    args: [
      // Other users of this machine can read the arguments of a program, but not this file.
      `--config=${folder.keep('config.json', JSON.stringify({ wsEndpoint: url, wsHeaders: JSON.stringify(headers) }))}`,
      '--no-file-navigations',
      '--no-usage-statistics',
      '--no-performance-crux',
    ],
    env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1' },
  }),
}
