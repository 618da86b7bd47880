// Builds the offline verifier: one HTML file with script and style inside, and a policy that allows exactly these two.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#0f766e" d="M5 4h5v24H5zM12 9h15v5H12z"/></svg>'

/** Returns the page. The same sources give the same bytes. */
export async function buildVerifier(): Promise<string> {
  const [html, script, style] = await Promise.all([
    readFile(at('page.html'), 'utf8'),
    bundled('page/main.ts'),
    bundled('page.css'),
  ])
  const digest = sha256(script)
  const parts: Readonly<Record<string, string>> = {
    policy: policyFor(digest, sha256(style)),
    icon: encodeURIComponent(ICON),
    digest,
    script: `<script>${script}</script>`,
    style: `<style>${style}</style>`,
  }
  return html.replaceAll(
    /\{\{([a-z]+)\}\}|<!-- ([a-z]+) -->/g,
    (_, inAttribute: string | undefined, alone: string) => {
      const name = inAttribute ?? alone
      const part = parts[name]
      if (part === undefined)
        throw new Error(`page.html has a place for \`${name}\`, and there is no such part`)
      return part
    },
  )
}

async function bundled(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [at(entry)],
    absWorkingDir: at('../..'),
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    // The first versions that have Ed25519.
    target: ['chrome137', 'firefox129', 'safari17'],
    write: false,
    logLevel: 'silent',
  })
  const text = outputFiles[0]?.text.trim() ?? ''
  // An HTML parser would end the element here, or read a part of it as a comment.
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${entry} cannot be written into a page`)
  return text
}

function sha256(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** Nothing but this script and this style; workers only from the page's own script; no connection at all. */
function policyFor(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src '${script}'`,
    `style-src '${style}'`,
    'img-src data:',
    'worker-src blob:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types tollgate-worker',
  ].join('; ')
}
