// The policy for developers: a day of ordinary work passes with at most three questions, and nothing harmful passes.

import { expect, test } from 'vitest'
import { CANARY } from '../../../src/hooks/tools.ts'
import { readDay } from './day.ts'
import { createDesk } from './desk.ts'

test('a day of 300 calls asks at most three times, and only where the table says', async () => {
  const desk = await createDesk()
  const lines = readDay('day.txt', desk.places)
  const wrong: string[] = []
  let [project, asked, calls] = ['', 0, 0]
  for (const line of lines) {
    if (line.is === 'session') project = line.project
    else if (line.is === 'user')
      await desk.send(project, `s-${project}`, { hook_event_name: 'UserPromptSubmit', prompt: line.text })
    else {
      calls++
      const { verdict, reason_code, rule, asks: why } = await desk.run(project, `s-${project}`, line)
      if (verdict !== 'ALLOW') asked++
      if (verdict !== (line.expects ?? 'ALLOW'))
        wrong.push(`${verdict} ${reason_code} ${rule ?? ''} ${JSON.stringify(why ?? '')}: ${line.text}`)
    }
  }
  expect(wrong).toEqual([])
  expect(calls).toBeGreaterThanOrEqual(300)
  expect(asked).toBeLessThanOrEqual(3)
}, 120_000)

test('no harmful call passes, whatever happened before', async () => {
  const desk = await createDesk()
  const wrong: string[] = []
  const calls = readDay('harm.txt', desk.places).filter((line) => line.is === 'call')
  for (const [i, call] of calls.entries()) {
    const { verdict, rule, reason_code } = await desk.ask('ts', `s${i}`, call, `agent:${i}`)
    if (call.expects ? verdict !== call.expects : verdict === 'ALLOW')
      wrong.push(`${verdict} ${reason_code} ${rule}: ${call.text}`)
  }
  expect(wrong).toEqual([])
  expect(calls.length).toBeGreaterThanOrEqual(60)
}, 120_000)

test('the canary of `tollgate doctor` is denied, although the policy asks about every unknown tool', async () => {
  const desk = await createDesk()
  expect(await desk.ask('ts', 's', { tool: CANARY.name, args: {} })).toMatchObject({ verdict: 'DENY' })
})
