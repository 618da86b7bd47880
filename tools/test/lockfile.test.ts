// `npm ci` installs exactly what the lockfile names, and refuses a lockfile that lacks a package. npm leaves out the packages of
// other platforms when it writes a lockfile from what happens to be installed, so each package is looked up here.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** What the lockfile says of one package. */
interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Lockfile = Readonly<Record<string, Locked>>

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
// Sound: npm writes it so, and what is missing fails below.
const { packages } = JSON.parse(text) as { readonly packages: Lockfile }

/** Every `PLACE: NAME` that a package needs, also on another platform only, and that the lockfile does not have. */
function missingIn(lockfile: Lockfile): readonly string[] {
  return Object.entries(lockfile).flatMap(
    ([place, { dependencies, devDependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
        .filter((name) => !placesFor(place, name).some((each) => Object.hasOwn(lockfile, each)))
        .map((name) => `${place}: ${name}`),
  )
}

/** Where Node looks for a package that is needed at a place: there, and then in every folder above. */
function placesFor(place: string, name: string): readonly string[] {
  const parts = place.split('/')
  const above = parts.map((_, i) => parts.slice(0, parts.length - i).join('/'))
  return [...above.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`]
}

describe('the lockfile', () => {
  it('has every package that another one needs, for every platform', () => {
    const optional = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
    expect(optional.filter((name) => name.startsWith('@rolldown/binding-')).length).toBeGreaterThan(10)
    expect(missingIn(packages)).toEqual([])
  })

  it('is missing a package as soon as one entry is taken out', () => {
    const [name = ''] = Object.keys(packages).filter((each) => each.includes('@rolldown/binding-'))
    const { [name]: taken, ...rest } = packages
    expect(taken).toBeDefined()
    expect(missingIn(rest)).toEqual([`node_modules/rolldown: ${name.slice('node_modules/'.length)}`])
  })

  it('has the hash of everything that is fetched', () => {
    const fetched = Object.entries(packages).filter(([at, { link }]) => at.includes('node_modules/') && !link)
    expect(fetched.length).toBeGreaterThan(250)
    expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  })
})
