// Programs for files and texts.

import type { Row, ProgramTable } from '../row.ts'

const NOTHING: Row = { other: true }
const READS: Row = { args: 'read*', other: true }
const READS_HERE: Row = { args: 'read*:.', other: true }

/** Programs that only print, calculate or wait. */
const HARMLESS =
  'echo printf true false : pwd dirname basename seq sleep whoami id groups uname arch nproc uptime tty logname users who w last cal yes expr factor numfmt getconf locale hostid free vmstat iostat lscpu lsblk lsmod lsusb lspci lsof netstat ps pgrep pidof top htop wait fg bg times umask ulimit getopts shift caller dirs logout suspend help break continue tput clear reset stty which whereis type info apropos whatis fgconsole lsns lslocks ipcs dmesg sw_vers pstree'.split(
    ' ',
  )

const PATTERN =
  '-e,--regexp=text -f,--file=read -A,-B,-C,-m,--after-context,--before-context,--context,--max-count,--include,--exclude,--exclude-dir,-d,-D,--label,--binary-files=text --exclude-from=read --color,--colour?'
const GREP: Row = { options: PATTERN, args: 'text read*', first: '-e --regexp -f --file', other: true }

/** The table. */
export const FILES: ProgramTable = {
  ...Object.fromEntries(HARMLESS.map((name) => [name, NOTHING])),
  date: {
    options: '-s,--set!unknown:sets_the_clock -f,--file=read -r,--reference=read -d,--date=text',
    other: true,
  },
  hostname: { options: '-F=read', args: 'text', other: true },
  man: {
    options: '-P,--pager,-H,--html=shell -C,--config-file=script -M,-S,-s,-L,-m,-e,-p,-r,-E,-R,-T=text',
    other: true,
  },
  history: { options: '-w,-a?write -r,-n?read -c -d,-s,-p=text', args: 'edit', other: true },
  ss: { options: '-D,--diag=write -F,--filter=read -K,--kill!kill', other: true },
  pr: READS,
  ptx: { args: 'read write', other: true },
  yes: NOTHING,
  pathchk: NOTHING,
  getent: NOTHING,
  cat: READS,
  tac: READS,
  nl: { options: '-b,-d,-f,-h,-i,-l,-n,-s,-v,-w=text', args: 'read*', other: true },
  rev: READS,
  head: { options: '-n,-c,--lines,--bytes=text', args: 'read*', other: true },
  tail: {
    options: '-n,-c,-s,--lines,--bytes,--pid,--sleep-interval,--max-unchanged-stats=text',
    args: 'read*',
    other: true,
  },
  less: {
    options: '-o,-O,--log-file,--LOG-FILE=write -k,--lesskey-src=read -t,-p,-P,-x,-y,-z,-b,-j,-h=text',
    args: 'read*',
    other: true,
  },
  more: READS,
  wc: { options: '--files0-from=read', args: 'read*', other: true },
  cut: {
    options: '-b,-c,-d,-f,--bytes,--characters,--delimiter,--fields,--output-delimiter=text',
    args: 'read*',
    other: true,
  },
  paste: { options: '-d,--delimiters=text', args: 'read*', other: true },
  join: { options: '-1,-2,-j,-a,-e,-o,-t,-v=text', args: 'read*', other: true },
  comm: READS,
  column: { options: '-t -s,-o,-c,-N,-H,-R,-W,-l,-n,-O=text', args: 'read*', other: true },
  fold: { options: '-w,--width=text', args: 'read*', other: true },
  fmt: { options: '-w,--width,-p=text', args: 'read*', other: true },
  expand: READS,
  unexpand: READS,
  tr: NOTHING,
  strings: { options: '-n,-t,-e,-T=text', args: 'read*', other: true },
  od: { options: '-A,-j,-N,-S,-t,-w=text', args: 'read*', other: true },
  xxd: {
    options: '-c,-g,-l,-n,-o,-s,-seek,-len,-cols=text -r,-p,-i,-u,-b,-e,-E,-a,-C',
    args: 'read write',
    long: true,
  },
  hexdump: { options: '-e,-n,-s=text -f=read', args: 'read*', other: true },
  md5sum: READS,
  sha1sum: READS,
  sha224sum: READS,
  sha256sum: READS,
  sha384sum: READS,
  sha512sum: READS,
  shasum: { options: '-a,--algorithm=text', args: 'read*', other: true },
  md5: READS,
  cksum: { options: '-a,--algorithm=text', args: 'read*', other: true },
  b2sum: READS,
  sum: READS,
  base64: { options: '-w,--wrap,-b=text -o,--output=write -i,--input=read', args: 'read*', other: true },
  base32: READS,
  file: {
    options: '-m,--magic-file,-f,--files-from=read -e,--exclude,-F,--separator,-P=text -C,--compile!write:.',
    args: 'read*',
    other: true,
  },
  stat: { options: '-c,--format,--printf,-f=text', args: 'read*', other: true },
  readlink: READS,
  realpath: { options: '--relative-to,--relative-base=text', args: 'read*', other: true },
  ls: {
    options: '-I,--ignore,--hide,-w,--width,-T,--tabsize,--time-style,--sort,--block-size=text',
    args: 'read*:.',
    other: true,
  },
  dir: READS_HERE,
  vdir: READS_HERE,
  exa: { options: '-L,--level,-s,--sort,-I=text', args: 'read*:.', other: true },
  eza: { options: '-L,--level,-s,--sort,-I=text', args: 'read*:.', other: true },
  tree: {
    options: '-o=write -L,-P,-I,--filelimit,--charset,--sort=text -R!write:.',
    args: 'read*:.',
    other: true,
  },
  du: {
    options:
      '-d,--max-depth,-B,--block-size,-t,--threshold,--exclude=text -X,--exclude-from,--files0-from=read',
    args: 'read*:.',
    other: true,
  },
  df: { options: '-B,-t,-x,--type,--exclude-type,--output=text', args: 'text*', other: true },
  diff: {
    options:
      '-U,-C,-W,-x,-I,-F,--exclude,--label,--unified,--context,--width,--tabsize=text -X,--exclude-from,--from-file,--to-file=read',
    args: 'read*',
    other: true,
  },
  diff3: { options: '--diff-program=shell -L=text', args: 'read*', other: true },
  sdiff: { options: '-o,--output=write -w,-W=text --diff-program=shell', args: 'read*', other: true },
  colordiff: READS,
  cmp: { options: '-n,-i,--bytes,--ignore-initial=text', args: 'read read text*', other: true },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  zcat: READS,
  bzcat: READS,
  xzcat: READS,
  zstdcat: READS,
  zless: READS,
  rg: {
    options:
      '-e,--regexp=text -f,--file,--ignore-file=read --pre=shell --hostname-bin=shell -A,-B,-C,-g,-t,-T,-m,-M,-j,-E,-r,-d,--glob,--iglob,--type,--type-not,--max-count,--max-depth,--context,--after-context,--before-context,--sort,--sortr,--threads,--replace,--color,--colors,--encoding,--type-add,--max-columns,--max-filesize,--path-separator,--context-separator,--engine,--pre-glob=text',
    args: 'text read*:.',
    first: '-e --regexp -f --file --files --type-list',
    other: true,
  },
  ag: {
    options: '-A,-B,-C,-G,-m,--ignore,--depth=text -p,--path-to-ignore=read --pager=shell',
    args: 'text read*:.',
    other: true,
  },
  ack: {
    options: '-A,-B,-C,-m,--type,--ignore-dir=text --pager=shell --files-from=read --ackrc=script',
    args: 'text read*:.',
    other: true,
  },
  fd: {
    options:
      '-e,-E,-t,-d,-c,-S,-j,--extension,--exclude,--type,--max-depth,--min-depth,--exact-depth,--color,--size,--changed-within,--changed-before,--owner,--max-results,--threads,--path-separator,--format=text -H,--hidden -I,--no-ignore -u,--unrestricted -g,--glob -F,--fixed-strings -i,--ignore-case -s,--case-sensitive -a,--absolute-path -l,--list-details -L,--follow -p,--full-path -0,--print0 -q,--quiet -1 -r,--regex --base-directory=chdir --search-path=read --ignore-file=read',
    until: '-x -X --exec --exec-batch',
    args: 'text read*:.',
  },
  jq: {
    options:
      '-f,--from-file=read --rawfile,--slurpfile,--argfile==read -L=read --arg,--argjson==text --indent,--tab=text',
    args: 'text read*',
    first: '-f --from-file',
    other: true,
  },
  yq: {
    options:
      '-i,--inplace,--in-place -o,-p,-I,--output-format,--input-format,--indent=text --from-file=read -s,--split-exp!write:.',
    args: 'text read*',
    also: '-i=write --inplace=write --in-place=write',
    other: true,
  },
  xmllint: {
    options: '-o,--output=write --schema,--dtdvalid,--relaxng=read --xpath,--pattern,--encode=text',
    args: 'read*',
    other: true,
    long: true,
  },
  csvlook: READS,
  csvcut: { options: '-c,-d=text', args: 'read*', other: true },
  bat: {
    options:
      '-l,-H,-r,--language,--highlight-line,--line-range,--style,--theme,--color,--paging,--wrap,--tabs,--map-syntax,--decorations=text --pager=shell',
    args: 'read*',
    other: true,
  },
  uniq: {
    options: '-f,-s,-w,--skip-fields,--skip-chars,--check-chars=text',
    args: 'read write',
    other: true,
  },
  sort: {
    options:
      '-o,--output=write -T,--temporary-directory=write --compress-program=shell --files0-from,--random-source=read -k,-t,-S,--key,--field-separator,--buffer-size,--parallel,--batch-size,--sort=text',
    args: 'read*',
    other: true,
  },
  shuf: {
    options: '-o,--output=write -n,--head-count,-i,--input-range=text -e,--echo --random-source=read',
    args: 'read*',
    other: true,
  },
  tsort: READS,
  split: {
    options:
      '-a,-b,-C,-l,-n,-t,--bytes,--lines,--number,--suffix-length,--additional-suffix,--separator=text --filter=shell',
    args: 'read write:x',
    does: 'write:.',
    other: true,
  },
  csplit: {
    options: '-f,-b,-n,--prefix,--suffix-format,--digits=text',
    args: 'read text*',
    does: 'write:.',
    other: true,
  },
  tee: { options: '-a,--append -i,--ignore-interrupts -p --output-error?', args: 'write*' },
  sponge: { options: '-a', args: 'write' },
  touch: { options: '-r,--reference=read -d,--date,-t,--time=text', args: 'write*', other: true },
  truncate: { options: '-s,--size=text -r,--reference=read', args: 'write*', other: true },
  mkdir: { options: '-m,--mode=text', args: 'write*', other: true },
  mkfifo: { options: '-m,--mode=text', args: 'write*', other: true },
  mknod: { options: '-m,--mode=text', args: 'write text*', other: true },
  mktemp: { options: '-p,--tmpdir,--suffix,-t=text', args: 'text', other: true },
  rm: { args: 'delete*', other: true },
  rmdir: { args: 'delete*', other: true },
  unlink: { args: 'delete*', other: true },
  shred: {
    options: '-n,-s,--iterations,--size=text --random-source=read',
    args: 'edit*',
    also: '-u=delete --remove=delete',
    other: true,
  },
  srm: { args: 'delete*', other: true },
  trash: { args: 'delete*', other: true },
  cp: {
    options:
      '-S,--suffix=text -t,--target-directory=write --sparse,--reflink,--preserve,--no-preserve,--backup,--context?',
    args: 'read* write',
    last: '-t --target-directory',
    other: true,
  },
  mv: {
    options: '-S,--suffix=text -t,--target-directory=write --backup?',
    args: 'move* write',
    last: '-t --target-directory',
    other: true,
  },
  rename: { args: 'text*', does: 'code edit:.' },
  ln: {
    options: '-S,--suffix=text -t,--target-directory=write --backup?',
    args: 'read* write',
    last: '-t --target-directory',
    other: true,
  },
  link: { args: 'read write' },
  install: {
    options:
      '-m,-o,-g,-S,--mode,--owner,--group,--suffix=text -t,--target-directory=write --strip-program=shell -d,--directory',
    args: 'read* write',
    last: '-t --target-directory',
    also: '-d=write --directory=write',
    other: true,
  },
  chmod: { options: '--reference=read', args: 'text write*', first: '--reference', other: true },
  chown: { options: '--reference=read --from=text', args: 'text write*', first: '--reference', other: true },
  chgrp: { options: '--reference=read', args: 'text write*', first: '--reference', other: true },
  chattr: { args: 'text write*', other: true },
  setfacl: { options: '-m,-x,--modify,--remove=text -M,-X,--restore=read', args: 'write*', other: true },
  getfacl: READS,
  xattr: { args: 'edit*', other: true },
  dos2unix: { args: 'edit*', other: true },
  unix2dos: { args: 'edit*', other: true },
  iconv: { options: '-f,-t,--from-code,--to-code=text -o,--output=write', args: 'read*', other: true },
  patch: {
    options:
      '-p,-F,--strip,--fuzz,-B,-z,-Y,-V,-g=text -i,--input=read -d,--directory=chdir -o,--output,-r,--reject-file=write --dry-run,-R,--reverse,-N,--forward,-s,--silent,-f,--force,-E,-u,-b,--backup,-l,-t,-c,-n,--binary,--verbose,--batch',
    args: 'edit read',
    does: 'edit:.',
  },
  gzip: { options: '-S,--suffix=text', args: 'edit*', other: true },
  gunzip: { options: '-S,--suffix=text', args: 'edit*', other: true },
  bzip2: { args: 'edit*', other: true },
  bunzip2: { args: 'edit*', other: true },
  xz: {
    options: '-S,-F,-C,-M,-T,--suffix,--format,--check,--memlimit,--threads=text --files,--files0?read',
    args: 'edit*',
    other: true,
  },
  unxz: { args: 'edit*', other: true },
  zstd: {
    options: '-o=write -D=read --output-dir-flat,--output-dir-mirror=write -T=text --filelist=read',
    args: 'read*',
    does: 'write:.',
    other: true,
  },
  unzstd: { options: '-o=write -D=read', args: 'read*', does: 'write:.', other: true },
  zip: {
    options:
      '-r,-q,-9,-0,-1,-6,-j,-u,-v,-y,-X,-d,-l,-D -m,--move -x,-i,-n,-t,-tt,-P,-s=text -b=write -T -TT=shell --unzip-command=shell',
    args: 'write read*',
    also: '-m=delete --move=delete',
  },
  unzip: {
    options: '-o,-q,-qq,-n,-l,-t,-v,-p,-c,-j,-u,-f,-a,-z,-Z,-C,-L,-V,-X,-K,-W -d=write -x,-P=text',
    args: 'read text*',
    does: 'write:.',
    long: true,
  },
  unrar: { args: 'text read write', does: 'write:.', other: true },
  '7z': { options: '-o?write', args: 'text edit read*', does: 'write:.', other: true },
  cpio: {
    options:
      '-i,-o,-p,-t,-d,-m,-v,-u,-0,--null -D=chdir -F,-I=read -O=write -H=text --to-command,--rsh-command=shell',
    args: 'write*',
    does: 'edit:.',
  },
  ar: { args: 'text edit read*', other: true },
  sqlite3: { args: 'edit code*', other: true },
  pandoc: {
    options:
      '-o,--output=write -f,-t,--from,--to,-M,-V,--metadata,--variable=text -F,--filter,-L,--lua-filter,--pdf-engine=script --template,-H,-A,-B,-c,--css,--bibliography=read',
    args: 'read*',
    other: true,
  },
  convert: { args: 'read* write', other: true },
  magick: { args: 'read* write', other: true },
  identify: READS,
  ffmpeg: { options: '-i=from', args: 'to*', other: true, long: true },
  ffprobe: { options: '-i=read', args: 'read*', other: true, long: true },
  vi: { options: '-c,-S,-s,-u,-U,-i,-W,--cmd=code', args: 'edit*', does: 'code', other: true },
  vim: { options: '-c,-S,-s,-u,-U,-i,-W,--cmd=code', args: 'edit*', does: 'code', other: true },
  nvim: { options: '-c,-S,-s,-u,-U,-i,-W,--cmd=code', args: 'edit*', does: 'code', other: true },
  emacs: { args: 'edit*', does: 'code', other: true },
  nano: { args: 'edit*', other: true },
  code: { args: 'read*', does: 'background', other: true },
  open: { args: 'from*', does: 'background code', other: true },
  'xdg-open': { args: 'from*', does: 'background code', other: true },
  pbcopy: NOTHING,
  pbpaste: { does: 'secret' },
  logger: { options: '-f,--file=read -n,--server=host', other: true },
  bc: { args: 'read*', other: true },
  dc: { options: '-e,--expression=code -f,--file=read', args: 'read*', other: true },
  time: {
    options: '-o,--output=write -f,--format=text -p,--portability -v,--verbose -a,--append -q,--quiet',
    args: 'command',
  },
}
