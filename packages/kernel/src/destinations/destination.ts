// Defines destinations, and the default ports of schemes.

/** A place that data can go to: a {@link Destination} without its position in the arguments. */
export interface Target {
  /** In lower case: `https`, `mailto` for an e-mail address, empty for a bare host. */
  readonly scheme: string
  /**
   * Normalised: lower case, no trailing dot, IDN as punycode (`xn--`), IPv4 in dotted decimal, IPv6 as in RFC 5952 without
   * brackets. Empty if the host is unreadable or ambiguous. A gate must then deny.
   */
  readonly host: string
  /** The stated port, else the default port of the scheme, else 0. */
  readonly port: number
}

/** A network destination in the arguments of a call. */
export interface Destination extends Target {
  /** JSON pointer (RFC 6901) of the argument. For a key, that of its value. */
  readonly at: string
  /** `declared`: the tool declares that this argument is a destination. `found`: it was found in a string. */
  readonly from: 'declared' | 'found'
}

const PORTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    http: 80,
    https: 443,
    ws: 80,
    wss: 443,
    ftp: 21,
    ftps: 990,
    ssh: 22,
    sftp: 22,
    scp: 22,
    telnet: 23,
    smtp: 25,
    smtps: 465,
    gopher: 70,
    pop3: 110,
    imap: 143,
    imaps: 993,
    ldap: 389,
    ldaps: 636,
    smb: 445,
    cifs: 445,
    rsync: 873,
    mqtt: 1883,
    mqtts: 8883,
    mysql: 3306,
    postgres: 5432,
    postgresql: 5432,
    amqp: 5672,
    amqps: 5671,
    redis: 6379,
    rediss: 6379,
    git: 9418,
    mongodb: 27017,
  }),
)

/** Returns the default port of a scheme, or 0. In a compound such as `git+ssh` the last part decides. */
export function defaultPort(scheme: string): number {
  return PORTS.get(scheme) ?? PORTS.get(scheme.slice(scheme.lastIndexOf('+') + 1)) ?? 0
}

/** Returns a destination without a readable host. */
export function unreadable(scheme: string): Target {
  return { scheme, host: '', port: 0 }
}

/** The maximum number of entries of a list that are read. */
export const MAX_TARGETS: number = 1000

/** Returns the targets of each entry of a list. If the list is too long, returns those of its beginning and an unreadable one. */
export function readEach<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => readonly Target[],
): readonly Target[] {
  if (entries.length <= MAX_TARGETS) return entries.flatMap(read)
  return [...entries.slice(0, MAX_TARGETS).flatMap(read), unreadable('')]
}
