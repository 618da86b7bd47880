// Random commands from the programs of the table, and mutations of them.

import { spawnSync } from 'node:child_process'
import type { Random } from '../../model/model-random.ts'

/** The programs that are tried, with the number of their files. Only those that are installed count. */
const PROGRAMS =
  'cat tac nl rev head tail wc cut paste join comm fold fmt expand unexpand od hexdump md5sum sha256sum cksum b2sum sum base64 file stat readlink realpath ls du diff diff3 sdiff cmp grep egrep fgrep zgrep zcat sort shuf uniq tsort split csplit tee touch truncate mkdir mkfifo mktemp rm rmdir unlink shred cp mv ln link install chmod chgrp iconv patch gzip gunzip bzip2 xz zstd zip unzip tar find xargs sed awk git jq dd echo printf true date basename dirname seq expr tr env printenv nice nohup setsid timeout stdbuf time test xxd strings column column pr factor numfmt ptx dir vdir chown getfacl setfacl dircolors split bunzip2 unxz xzcat bzcat cpio ar strip objdump nm size gpg openssl curl wget ssh scp python3 perl make less more bc xmllint sqlite3 pathchk nproc id whoami logger cal ctags yes flock ionice chrt taskset watch which hostname uname ps kill pgrep'.split(
    ' ',
  )

const FILES = [
  'a.txt',
  'b.txt',
  '"c d.txt"',
  'data.csv',
  'sub',
  'sub/e.txt',
  'sub/deep/f.log',
  'x.json',
  'list',
  '../other/g.txt',
  'new.txt',
  'sub/new',
  'empty',
  './a.txt',
  '~/.profile',
  '*.txt',
  'sub/*',
  '.',
  '..',
  '"$PWD"/a.txt',
  "'b.txt'",
  'a.t?t',
  '{a,b}.txt',
  '$HOME/z',
  '/etc/passwd',
  'q/r',
  '-',
  '"$x"',
  '$y',
  '[ab].txt',
  'n1 n2',
]
const TEXTS = [
  '1',
  '2',
  'a',
  'x',
  'one',
  "'s/a/b/'",
  "'s/a/b/w out.w'",
  "'1d'",
  "'{print $1}'",
  "'.a'",
  '-1',
  '644',
  '+x',
  'u+w',
  '10',
  '.bak',
  'foo=bar',
  '%s',
  ',',
  "'/a/,$p'",
  'tar',
  'gzip',
  'HEAD',
  "'w f1'",
  '\'print > "f2"\'',
  '5',
  '1,2',
]

const LETTERS = 'abcdefghijklmnopqrstuvwxyzCDEFILNOPRSTUXZ0'.split('')

/** The options of the installed programs, from their help. */
const options = new Map<string, readonly string[]>()

/** Returns the programs of this machine. */
export function installed(): readonly string[] {
  return [...new Set(PROGRAMS)].filter((name) => spawnSync('which', [name]).status === 0)
}

function optionsOf(name: string): readonly string[] {
  let known = options.get(name)
  if (!known) {
    const { stdout, stderr } = spawnSync(
      'setpriv',
      ['--reuid', '65534', '--regid', '65534', '--clear-groups', name, '--help'],
      {
        cwd: '/',
        input: '',
        timeout: 2000,
        encoding: 'utf8',
      },
    )
    const help = `${stdout} ${stderr}`
    known = [
      ...new Set(
        [...help.matchAll(/(?<![\w-])(--?[A-Za-z0-9][\w-]*(?:\[?=)?)/g)].map(([, option = '']) =>
          option.replace('[', ''),
        ),
      ),
    ]
    options.set(name, known)
  }
  return known
}

/** Makes commands. */
export function createGenerator(random: Random, programs: readonly string[]): () => string {
  const file = (): string => random.pick(FILES)
  const text = (): string => random.pick(TEXTS)
  const value = (): string => (random.chance(60) ? file() : text())

  const option = (name: string): string => {
    const known = optionsOf(name)
    if (known.length === 0 || random.chance(15))
      return `-${random.pick(LETTERS)}${random.chance(30) ? value() : ''}`
    const one = random.pick(known)
    if (one.endsWith('=')) return random.chance(50) ? one + value() : `${one.slice(0, -1)} ${value()}`
    return random.chance(30) ? `${one} ${value()}` : one
  }

  const many = (most: number, make: () => string): string =>
    Array.from({ length: random.int(most + 1) }, make).join(' ')

  const program = (): string => {
    const name = random.pick(programs)
    return [name, many(3, () => option(name)), many(1, text), many(3, file)]
      .filter((each) => each !== '')
      .join(' ')
  }

  const ordinary = (): string =>
    random.pick([
      () => `rm ${random.pick(['', '-r', '-rf', '-f'])} ${file()} ${file()}`,
      () => `cp ${random.pick(['', '-r', '-a', '-t sub', '-f'])} ${file()} ${file()}`,
      () => `mv ${random.pick(['', '-f', '-t sub', '-n'])} ${file()} ${file()}`,
      () => `sed ${random.pick(['-i', '-i.bak', '-n', '-ni', '-E -i', '-e 1d'])} ${text()} ${file()}`,
      () =>
        `tar ${random.pick(['cf', 'czf', 'cvf', '-cf', 'rf'])} ${random.pick(['t.tar', 'sub/t.tgz'])} ${file()} ${file()}`,
      () =>
        `tar cf t.tar ${file()} && tar ${random.pick(['xf', 'xvf', '-xf', 'tf'])} t.tar ${random.pick(['', '-C sub', '--strip-components=1', '-C ..'])}`,
      () =>
        `find ${file()} ${random.pick(['-name "*.txt"', '-type f', '', '-maxdepth 1'])} ${random.pick(['-delete', '-exec rm {} \\;', '-exec cp {} {}.bak \\;', '-execdir touch z \\;', '-fprint out.f', '-print0', '-exec sh -c "rm $0" {} \\;'])}`,
      () =>
        `printf 'a.txt\\nb.txt\\n' | xargs ${random.pick(['', '-n1', '-I{}', '-I % ', '-t', '-P2'])} ${random.pick(['rm', 'cp -t sub', 'touch {} x', 'cat', 'mv -t empty'])}`,
      () => `gzip ${random.pick(['', '-k', '-c', '-d', '-f', '-r'])} ${file()}`,
      () =>
        `git init -q g && cd g && ${random.pick(['touch f && git add . && git -c user.name=a -c user.email=b commit -qm x', 'git config user.name a', 'git status', 'git checkout -b y', 'git rm -f f', 'git clean -fdx', 'git stash'])}`,
      () => `dd if=${file()} of=${file()}`,
      () => `ln ${random.pick(['-s', '-sf', '', '-f'])} ${file()} ${file()}`,
      () => `split -l 1 ${file()} ${random.pick(['', 'pre'])}`,
      () => `sort ${file()} -o ${file()}`,
      () => `install ${random.pick(['-m 644', '-d', '-D', '-t sub'])} ${file()} ${file()}`,
      () =>
        `awk ${random.pick(["'{print}'", '\'{print > "w1"}\'', '\'BEGIN{system("touch w2")}\'', "'NR>1'", '-f list'])} ${file()}`,
      () => `mkdir -p ${file()}/a/{b,c}`,
      () => `patch ${random.pick(['a.txt', '-p0', '-o out.p a.txt'])} <<< ""`,
      () => `zip ${random.pick(['', '-r', '-m', '-qr'])} z.zip ${file()}`,
      () => `truncate -s 0 ${file()}`,
      () => `tee ${random.pick(['', '-a'])} ${file()} ${file()} <<< x`,
    ])()

  const simple = (): string =>
    random.chance(45)
      ? ordinary()
      : random.chance(90)
        ? program()
        : `${random.pick(['./a.txt', 'nope', '"$x"', '$(echo rm)'])} ${file()}`

  const redirected = (): string => {
    const command = simple()
    return random.pick([
      () => `${command} > ${file()}`,
      () => `${command} >> ${file()}`,
      () => `${command} 2>&1`,
      () => `${command} &> ${file()}`,
      () => `${command} < ${file()}`,
      () => `> ${file()} ${command}`,
      () => `${command} >| ${file()} 2> e.txt`,
      () => `${command} 3<> ${file()}`,
      () => `${command} <<EOF\n$(${simple()}) x\nEOF`,
      () => `${command} <<'EOF'\n$(${simple()}) x\nEOF`,
      () => `${command} <<< "${random.pick(['x', '$(touch hs)'])}"`,
    ])()
  }

  const compound = (depth: number): string => {
    if (depth <= 0 || random.chance(30)) return random.chance(30) ? redirected() : simple()
    const inner = (): string => compound(depth - 1)
    return random.pick([
      () => `${inner()}; ${inner()}`,
      () => `${inner()} && ${inner()}`,
      () => `${inner()} || ${inner()}`,
      () => `${inner()} | ${inner()}`,
      () => `(${inner()})`,
      () => `{ ${inner()}; }`,
      () => `if ${inner()}; then ${inner()}; else ${inner()}; fi`,
      () =>
        `for f in ${file()} ${file()}; do ${random.pick(['rm "$f"', 'cp $f $f.o', 'touch "x$f"', inner()])}; done`,
      () => `case a in a) ${inner()};; *) ${inner()};; esac`,
      () =>
        `cd ${random.pick(['sub', '..', 'sub/deep', 'nope', '../other', '-', '', 'sub/..', '~', 'empty && cd ..'])}${random.pick([' && ', '; ', ' || '])}${inner()}`,
      () =>
        `f() { ${inner()}; ${random.pick(['rm "$1"', 'touch "$@"', 'cd sub', 'return', ':'])}; }; f ${file()}; ${inner()}`,
      () => `echo "$(${inner()})"`,
      () => `echo \`${inner().replaceAll('`', '')}\``,
      () => `cat <(${inner()})`,
      () => `bash -c ${quoted(inner())}`,
      () => `eval ${quoted(inner())}`,
      () => `x=${file()}; ${random.pick(['rm $x', 'touch "$x.n"', 'cp "$x" z', 'cat "$x"'])}; ${inner()}`,
      () =>
        `${random.pick(['env A=1', 'nice', 'timeout 2', 'command', 'exec', 'nohup', 'time', '! ', 'setsid', 'stdbuf -o0', 'builtin', 'env -i', 'env -C sub', 'ionice -c3'])} ${simple()}`,
      () => `while read l; do ${random.pick(['rm "$l"', 'touch $l.w', inner()])}; done < list`,
      () => `pushd sub > /dev/null; ${inner()}; popd > /dev/null; ${inner()}`,
      () => `trap ${quoted(inner())} EXIT; ${inner()}`,
      () => `${inner()} & wait`,
      () => `[[ -f a.txt ]] && ${inner()}`,
      () => `echo $((1 + 2)) \${q:-$(${inner()})}`,
      () => `a=($(${inner()})); ${inner()}`,
      () => `source list; ${inner()}`,
    ])()
  }

  return () => {
    const command = compound(random.int(4))
    return random.chance(30) ? mutated(command, random) : command
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const PIECES = [
  ...'\'"`$(){}[];|&<>\\ \n#!~*?=+-@:,0ax'.split(''),
  '$(',
  '${',
  '$((',
  '))',
  '<(',
  '>(',
  '&&',
  '||',
  ';;',
  '<<',
  '<<<',
  '>&',
  "$'",
  '$"',
  '\\\n',
  '=(',
  '[a',
  '}}',
  ' # ',
]

/** Changes a few characters. */
function mutated(command: string, random: Random): string {
  let text = command
  for (let times = random.int(4) + 1; times > 0; times--) {
    const at = random.int(text.length + 1)
    const length = random.chance(50) ? random.int(4) : 0
    text = text.slice(0, at) + (random.chance(70) ? random.pick(PIECES) : '') + text.slice(at + length)
  }
  return text
}
