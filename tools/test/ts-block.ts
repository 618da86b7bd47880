// Compiles the TypeScript of documents in one program. A part of a program gets what it does not declare itself.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './fresh-copy.ts'
import type { CodeBlock } from './markdown.ts'

/** What the parts of programs in a document use without declaring it. */
const SURROUNDINGS: Readonly<Record<string, string>> = {
  'README.md': `
import OpenAI from 'openai'
import { createClient } from '@tollgate/client'
const notes = new Map([['shopping', 'milk, bread']])
const [token, AGENT_TOKEN] = ['tg_agent_x', 'tg_agent_x']`,
  'docs/llm.md': `
import OpenAI, { AzureOpenAI } from 'openai'
import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { AzureChatOpenAI, ChatOpenAI } from '@langchain/openai'
const token = 'tg_agent_x'`,
  'packages/kernel/README.md': `
const seedOne = crypto.getRandomValues(new Uint8Array(32))
const seedTwo = crypto.getRandomValues(new Uint8Array(32))
const policyText = [
  'tollgate: 1',
  'name: page',
  'principals: { agent:a: { tier: standard } }',
  'tools: { notes/read: { effect: read, destinations: none } }',
  'rules: [{ id: reading, allow: notes/read }]',
].join('\\n')
const caller = { tenant: 'default', principal: 'agent:a' }
const call = { caller, door: 'http', assurance: 'enforced', session_id: 's1', tool: 'notes/read', args: { name: 'x' } } as const
const runTool = async (tool: string, args: unknown) => new TextEncoder().encode(JSON.stringify([tool, args]))`,
}

/** What the document says that its program ends with. */
const ENDS: Readonly<Record<string, string>> = {
  'packages/kernel/README.md':
    "if (effect?.outcome.status !== 'COMPLETED') throw new Error(JSON.stringify(decided))",
}

/** Written programs of documents. */
export interface Programs {
  readonly folder: string
  /** The file of a block. */
  fileOf(block: CodeBlock): string
  /** What the compiler says about them; empty if they are right. */
  mistakes(): string
  remove(): void
}

/** Writes the blocks into a folder inside of the project, so that its packages resolve. */
export function writePrograms(blocks: readonly CodeBlock[]): Programs {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache/documents-'))
  const fileOf = ({ place }: CodeBlock): string => join(folder, `${place.replaceAll(/[^\w.]/g, '-')}.ts`)
  for (const block of blocks) writeFileSync(fileOf(block), whole(block))
  const include = {
    extends: '../../tsconfig.json',
    include: ['*.ts'],
    compilerOptions: { incremental: false, noUnusedLocals: false },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(include))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return {
    folder,
    fileOf,
    mistakes: () => {
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
      const run = { cwd: ROOT, encoding: 'utf8' } as const
      const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', folder], run)
      return status === 0 ? '' : `${stdout}${stderr}` || 'the compiler failed'
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function whole({ file, text }: CodeBlock): string {
  return `${SURROUNDINGS[file] ?? ''}\n${text}\n${ENDS[file] ?? ''}\nexport {}\n`
}
