// What a destination is, and the ports that schemes imply.

/** Where data could go: the words of {@link Destination} without the place they were found at. */
export interface Target {
  /** Lower case: `https`, `mailto` for an e-mail address, empty where the text names none (a bare host). */
  readonly scheme: string
  /**
   * Normalised: lower case, no trailing dot, IDN as punycode (`xn--`), IPv4 in dotted decimal, IPv6 in the form of
   * RFC 5952 without brackets. Empty if it cannot be read in one way: whoever judges it must then deny.
   */
  readonly host: string
  /** The stated port, else the default of the scheme, else 0. */
  readonly port: number
}

/** A network destination in the arguments of a call. */
export interface Destination extends Target {
  /** JSON pointer (RFC 6901) of the argument; for a key, of the value under it. */
  readonly at: string
  /** `declared`: the tool's declaration says that this argument is one; `found`: discovered in a string. */
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

/** The port a scheme implies, or 0. Of a compound such as `git+ssh` the last part decides. */
export function defaultPort(scheme: string): number {
  return PORTS.get(scheme) ?? PORTS.get(scheme.slice(scheme.lastIndexOf('+') + 1)) ?? 0
}

/** A destination that cannot be read in one way. */
export function unreadable(scheme: string): Target {
  return { scheme, host: '', port: 0 }
}

/** Longest list that is read to its end. */
export const MOST_TARGETS: number = 1000

/** The targets of each entry of a list; of one that is too long, those of its beginning and an unreadable one. */
export function readEach<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => readonly Target[],
): readonly Target[] {
  if (entries.length <= MOST_TARGETS) return entries.flatMap(read)
  return [...entries.slice(0, MOST_TARGETS).flatMap(read), unreadable('')]
}
