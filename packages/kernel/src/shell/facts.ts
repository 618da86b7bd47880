// Room: the facts of a call: what a shell command or a file tool does to files, hosts and processes. Pure, without I/O.
//
// The facts as rules see them, and how a tool declares where they come from.

/** The arguments of a tool that the facts are read from, as paths of arguments. The policy declares them. */
export interface FactArguments {
  /** Arguments with a shell command. */
  readonly command: readonly string[]
  /** The argument with the working directory of the call. */
  readonly cwd: readonly string[]
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly deletes: readonly string[]
}

/** The facts of a shell command. A list is empty if the command does nothing of that kind. */
export interface ShellFacts {
  /** The programs that run, with the subcommand of programs that have one: `git push`. */
  readonly programs: readonly string[]
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly deletes: readonly string[]
  /** The hosts that it contacts; `*` for a host that the command does not name. */
  readonly hosts: readonly string[]
  /** Secrets that it reads without naming a file, such as `env` or `$AWS_SECRET_ACCESS_KEY`. */
  readonly secrets: readonly string[]
  /** Packages that it installs, or the program that installs those of a list. */
  readonly installs: readonly string[]
  /** Programs that publish something, such as `npm publish`. */
  readonly publishes: readonly string[]
  /** The git remotes that it pushes to. */
  readonly pushes: readonly string[]
  /** The processes that it ends. */
  readonly kills: readonly string[]
  /** It runs something as another user. */
  readonly privileged: boolean
  /** It leaves something running. */
  readonly background: boolean
  /** Programs that run code which is not in the command, such as `make` or `python`. */
  readonly runs_other_code: readonly string[]
  /** Programs that the table does not describe. */
  readonly unknown_programs: readonly string[]
  /** Why a part of the command is not known before it runs. */
  readonly unknown: readonly string[]
}

/** The facts of a call about files: of its shell command, and of the paths in its arguments. Paths are real paths. */
export interface FileFacts {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly deletes: readonly string[]
  /** Paths that contain secrets by their name. */
  readonly secrets: readonly string[]
  /** Changed files that other programs run by themselves, such as git hooks. */
  readonly startup: readonly string[]
  /** Files of the gateway, and changed hook configurations of clients. */
  readonly gate: readonly string[]
  /** Paths whose real path is not known. */
  readonly unresolved: readonly string[]
  /** The directories of the call; empty if the door does not know them. */
  readonly cwd: string
  readonly project: string
  readonly home: string
}

/** The facts of one call. */
export interface CallFacts {
  readonly shell: ShellFacts
  readonly files: FileFacts
}

/** The names of the facts that say that other facts may be missing. */
export const GAPS = [
  'shell.unknown',
  'shell.unknown_programs',
  'shell.runs_other_code',
  'files.unresolved',
] as const
/** A fact that says that other facts may be missing. */
export type Gap = (typeof GAPS)[number]

/** The ways to use a path. */
export const USES = ['reads', 'writes', 'deletes'] as const
/** A way to use a path. */
export type FileUse = (typeof USES)[number]

/** A path as a command or an argument names it. */
export interface NamedPath {
  readonly use: FileUse
  /** Absolute if the directory that it starts from is known. It is not normalised, because `link/..` depends on the disk. */
  readonly path: string
  /** `pattern`: it contains `*`, `?` or `[…]` of the shell. `unknown`: it depends on a value that only the running shell knows. */
  readonly kind: 'exact' | 'pattern' | 'unknown'
}

/** The facts of a command before its paths are resolved. */
export interface CommandFacts extends Omit<ShellFacts, FileUse> {
  readonly paths: readonly NamedPath[]
}

/** The facts of a call without a command. */
export const NO_COMMAND: CommandFacts = {
  programs: [],
  paths: [],
  hosts: [],
  secrets: [],
  installs: [],
  publishes: [],
  pushes: [],
  kills: [],
  privileged: false,
  background: false,
  runs_other_code: [],
  unknown_programs: [],
  unknown: [],
}
