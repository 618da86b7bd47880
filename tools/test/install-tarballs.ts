// Installs packed tarballs where there is no registry.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { linkTree, ROOT } from './fresh-copy.ts'

/**
 * Does what `npm install *.tgz` does, without a registry: unpacks the tarballs, links their commands, and takes each dependency
 * that they declare from the project. A dependency that no manifest declares is missing afterwards.
 */
export function installTarballs(tarballs: readonly string[], to: string): void {
  const modules = join(to, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  mkdirSync(join(modules, '@tollgate'))
  for (const tarball of tarballs) {
    const name = /tollgate-([a-z]+)-[^/]*\.tgz$/.exec(tarball)?.[1] ?? ''
    const folder = join(modules, '@tollgate', name)
    mkdirSync(folder)
    spawnSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
    for (const [command, file] of Object.entries(manifestOf(folder).bin ?? {})) {
      spawnSync('ln', ['-s', join(folder, file), join(modules, '.bin', command)])
      spawnSync('chmod', ['+x', join(folder, file)])
    }
  }
  const wanted = readdirSync(join(modules, '@tollgate')).map((name) => join(modules, '@tollgate', name))
  for (const folder of wanted) {
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const target = join(modules, name)
      if (existsSync(target)) continue
      if (name.startsWith('@tollgate/')) throw new Error(`${name} was not packed`)
      mkdirSync(dirname(target), { recursive: true })
      linkTree(sourceOf(name), target)
      wanted.push(target)
    }
  }
}

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

function manifestOf(folder: string): Manifest {
  // Sound: npm has read the same file.
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function sourceOf(name: string): string {
  const places = ['packages/gateway/node_modules', 'node_modules'].map((place) => join(ROOT, place, name))
  return places.find((place) => existsSync(place)) ?? join(ROOT, 'node_modules', name)
}
