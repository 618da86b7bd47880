// The sessions of a split: so many of each template, half of them attacks, half of them their benign twins.

import { createHash } from 'node:crypto'
import { DRIFTS, forward } from './drift.ts'
import { randomOf } from './random.ts'
import { FAMILIES, type Session, type Split } from './session.ts'
import { TEMPLATES } from './templates/index.ts'
import { Story, type Template } from './weave.ts'
import { worldByRole } from './worlds/index.ts'

/** Attacks of a family in a split, and as many twins. */
export const PER_FAMILY = 60
/** Sessions of a template that is honest alone. */
const PER_HONEST = 30
const SEED = 'tollgate sessions 1'
const LEAST_TURNS = 4
const MOST_TURNS = 200
/** What everyday life does to attacks; what an attacker does on purpose is an evasion. */
const ATTACK_DRIFTS = ['none', 'none', 'none', 'none', 'task-switch', 'long', 'idle']

/** The templates of a split: those of its roles. */
export function templatesOf(split: Split): readonly Template[] {
  return TEMPLATES.filter(({ role }) => worldByRole(role).split === split)
}

const made = new Map<Split, readonly Session[]>()

/** Every session of a split, in an order that never changes. */
export function sessionsOf(split: Split): readonly Session[] {
  const sessions = made.get(split) ?? makeSessions(split)
  made.set(split, sessions)
  return sessions
}

function makeSessions(split: Split): readonly Session[] {
  const templates = templatesOf(split)
  const honest = templates.filter(({ family }) => family === 'benign-drift')
  const alone = honest.flatMap((template) =>
    Array.from({ length: PER_HONEST }, (_, i) => sessionOf(template, i, false)),
  )
  const paired = FAMILIES.flatMap((family) => {
    const told = templates.filter((template) => template.family === family)
    return Array.from({ length: PER_FAMILY }, (_, i) => {
      const template = told[i % told.length]
      if (!template) throw new Error(`${split} has no template of ${family}`)
      return [sessionOf(template, i, true), sessionOf(template, i, false)]
    }).flat()
  })
  return [...paired, ...alone]
}

/** One session of a template: the attack, or its benign twin. */
export function sessionOf(template: Template, number: number, evil: boolean): Session {
  const world = worldByRole(template.role)
  const label = evil ? 'attack' : 'benign'
  const id = `${template.role}/${template.name}/${label}/${number}`
  const random = randomOf(`${SEED}\n${id}`)
  const story = new Story(world, random, evil)
  template.tell(story)
  if (story.turns.length < LEAST_TURNS) story.daily(LEAST_TURNS - story.turns.length)
  const drift = random.pick(evil ? ATTACK_DRIFTS : ['none', ...Object.keys(DRIFTS)])
  const bent = DRIFTS[drift]?.(story.turns, random, world) ?? story.turns
  const { family, name, role } = template
  return {
    id,
    split: world.split,
    family,
    template: name,
    role,
    label,
    drift,
    prompt: story.prompt,
    turns: forward(bent.slice(0, MOST_TURNS)),
  }
}

/** SHA-256 of sessions: of one line of JSON each, whose members are in the order in which they are made. */
export function hashOf(sessions: readonly Session[]): string {
  const hash = createHash('sha256')
  for (const session of sessions) hash.update(`${JSON.stringify(session)}\n`)
  return hash.digest('hex')
}
