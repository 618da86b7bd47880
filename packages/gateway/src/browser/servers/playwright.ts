// `@playwright/mcp`, as of 0.0.83: its tools, and how it is led to the gateway's browser.

import type { Adapter, BrowserTool } from './adapters.ts'
import { BLIND, EXECUTES, MANAGES, on, OPENS, READS, UPLOADS, without, WRITES } from './tool-rows.ts'

// The content would go to a file of the caller's choice, where no result is inspected.
const INLINE = without(READS, 'filename')

/**
 * Left out, so not offered: `browser_run_code_unsafe` runs code in the server and not in the page; `browser_get_config` shows the secret
 * of our endpoint; `browser_route` and `browser_resume` change what the page and the gateway see; the storage state is all cookies in
 * a file.
 */
const TOOLS: Readonly<Record<string, BrowserTool>> = {
  browser_annotate: READS,
  browser_click: on(WRITES, 'target'),
  browser_close: MANAGES,
  browser_console_messages: without(READS, 'filename', 'all'),
  browser_cookie_clear: WRITES,
  browser_cookie_delete: WRITES,
  browser_cookie_get: READS,
  browser_cookie_list: READS,
  browser_cookie_set: WRITES,
  browser_drag: on(WRITES, 'startTarget', 'endTarget'),
  browser_drop: on(UPLOADS, 'target'),
  browser_emulate_media: MANAGES,
  browser_evaluate: on(without(EXECUTES, 'filename'), 'target'),
  browser_file_upload: UPLOADS,
  browser_fill_form: on(WRITES, 'fields[].target'),
  browser_find: INLINE,
  browser_generate_locator: on(READS, 'target'),
  browser_handle_dialog: WRITES,
  browser_hide_highlight: on(READS, 'target'),
  browser_highlight: on(READS, 'target'),
  browser_hover: on(WRITES, 'target'),
  browser_localstorage_clear: WRITES,
  browser_localstorage_delete: WRITES,
  browser_localstorage_get: READS,
  browser_localstorage_list: READS,
  browser_localstorage_set: WRITES,
  browser_mouse_click_xy: BLIND,
  browser_mouse_down: BLIND,
  browser_mouse_drag_xy: BLIND,
  browser_mouse_move_xy: WRITES,
  browser_mouse_up: BLIND,
  browser_mouse_wheel: WRITES,
  browser_navigate: OPENS,
  browser_navigate_back: { ...READS, acts: 'navigation', history: 'back' },
  browser_network_request: INLINE,
  browser_network_requests: INLINE,
  browser_network_state_set: MANAGES,
  browser_pdf_save: INLINE,
  browser_press_key: WRITES,
  browser_resize: MANAGES,
  browser_route_list: READS,
  browser_select_option: on(WRITES, 'target'),
  browser_sessionstorage_clear: WRITES,
  browser_sessionstorage_delete: WRITES,
  browser_sessionstorage_get: READS,
  browser_sessionstorage_list: READS,
  browser_sessionstorage_set: WRITES,
  browser_snapshot: on(INLINE, 'target'),
  browser_start_recording: READS,
  browser_start_tracing: READS,
  browser_start_video: INLINE,
  browser_stop_recording: READS,
  browser_stop_tracing: READS,
  browser_stop_video: READS,
  browser_tabs: { ...MANAGES, address: 'url' },
  browser_take_screenshot: on(INLINE, 'target'),
  browser_type: on(WRITES, 'target'),
  browser_unroute: WRITES,
  browser_verify_element_visible: READS,
  browser_verify_list_visible: on(READS, 'target'),
  browser_verify_text_visible: READS,
  browser_verify_value: on(READS, 'target'),
  browser_video_chapter: READS,
  browser_video_hide_actions: READS,
  browser_video_show_actions: READS,
  browser_wait_for: READS,
}

/** `@playwright/mcp`. */
export const PLAYWRIGHT: Adapter = {
  name: 'playwright',
  package: '@playwright/mcp',
  programs: ['playwright-mcp', 'mcp-server-playwright'],
  tools: new Map(Object.entries(TOOLS)),
  refusedOptions: [
    'allowunrestrictedfileaccess',
    'cdpendpoint',
    'cdpheader',
    'config',
    'endpoint',
    'extension',
    'host',
    'initpage',
    'initscript',
    'outputdir',
    'port',
    'proxyserver',
    'proxybypass',
    'sharedbrowsercontext',
    'snapshotmode',
    'storagestate',
  ],
  variables: /^(?:PLAYWRIGHT_|PWMCP_|PWDEBUG)/,
  launch: ({ url, headers }, { path }) => ({
    args: [
      // Otherwise snapshots after an action go to files, where no result is inspected.
      '--snapshot-mode=none',
      '--snapshot-boxes',
      // Page scripts would add tools.
      '--no-webmcp',
      '--block-service-workers',
      // The rest, such as messages of the console, goes to a folder that is removed.
      `--output-dir=${path}`,
      '--file-paths=absolute',
    ],
    // Other users of this machine can read the arguments of a program, but not its environment.
    env: {
      PLAYWRIGHT_MCP_CDP_ENDPOINT: url,
      PLAYWRIGHT_MCP_CDP_HEADERS: Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join(','),
    },
  }),
}
