// Which room a file is in: the folder that a reader would name.

/** A room of a package. */
export interface Place {
  readonly package: string
  /** The folder; the package's own name for what is in no folder. */
  readonly room: string
}

// Whole packages that readers take as one room each.
const UNDIVIDED = new Set(['evidence', 'client'])

/** The room of a file of a package's source; undefined for all other files. */
export function placeOf(path: string): Place | undefined {
  const [, name, part, rest] = /^packages\/([^/]+)\/(src|node|bin)\/(.+)$/.exec(path) ?? []
  if (name === undefined || part === undefined || rest === undefined) return undefined
  if (part !== 'src') return { package: name, room: `${name}/${part}` }
  const [folder = '', inner, ...deeper] = rest.split('/')
  if (inner === undefined || UNDIVIDED.has(name)) return { package: name, room: name }
  return { package: name, room: folder === 'cli' && deeper.length > 0 ? `cli/${inner}` : folder }
}

/** The room with its package before it, for tables where both matter. */
export function roomName({ package: name, room }: Place): string {
  return room === name || room.startsWith(`${name}/`) ? room : `${name}/${room}`
}

// Folders of the kernel whose own folders, or files, are rooms of their own.
const DIVIDED = /^packages\/kernel\/src\/((?:gates|policy|workbench)\/[^/]+?)(?:\.ts)?(?:\/|$)/

/** The room for cycles: also items of the gates, parts of the policy, and files that are in no folder. */
export function cycleRoom(path: string): string | undefined {
  const [, item] = DIVIDED.exec(path) ?? []
  if (item !== undefined) return `kernel/${item}`
  const place = placeOf(path)
  if (place && place.room === place.package && !UNDIVIDED.has(place.package)) return path
  return place && roomName(place)
}
