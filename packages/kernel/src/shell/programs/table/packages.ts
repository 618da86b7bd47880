// Package managers. Installing runs code of the packages; a host that is not named is `*`.

import type { Row, ProgramTable } from '../row.ts'

function rows(names: string, row: Row): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, row]))
}

const VALUES =
  '-w,--workspace,--registry,--tag,--otp,--loglevel,--depth,--omit,--include,--before,--scope,--access,--location,--filter,-F,--reporter,--network-concurrency,--workspace-concurrency=text'
const QUERY: Row = { options: VALUES, other: true }
const ASKS: Row = { options: VALUES, other: true, does: 'host' }
const RUNS: Row = { options: VALUES, other: true, args: 'text*', does: 'code' }
const CHANGES: Row = { options: VALUES, other: true, args: 'text*', does: 'write:.' }
const LOGIN: Row = { other: true, does: 'host secret' }
const INSTALLS: Row = { options: VALUES, other: true, args: 'install*:', does: 'host code write:.' }
const INSTALLS_LIST: Row = { options: VALUES, other: true, does: 'install host code write:.' }
const PUBLISHES: Row = { options: VALUES, other: true, args: 'text*', does: 'publish host' }
const RUNS_PACKAGE: Row = {
  options: '-p,--package=install -c,--call,--shell-mode=shell -y,--yes -n,--no --no-install',
  args: 'install text*',
  stops: true,
  other: true,
  does: 'host code',
}

const SETTINGS: Row = {
  commands: {
    ...rows('get list ls', QUERY),
    ...rows('set delete edit fix unset', { other: true, does: 'edit:~/.npmrc' }),
  },
}

const NPM: ProgramTable = {
  ...rows('test t tst run run-script rum start stop restart build rebuild rb', RUNS),
  ...rows(
    'ls list la ll query why explain get bin root prefix help help-search fund completion docs repo bugs sbom',
    QUERY,
  ),
  ...rows('view info show v outdated audit search find s se ping doctor whoami profile diff', ASKS),
  ...rows(
    'install i in ins inst isntall add update up upgrade udpate install-test it install-ci-test cit link ln dedupe ddp',
    INSTALLS,
  ),
  ...rows('ci clean-install ic install-clean', INSTALLS_LIST),
  ...rows('uninstall un rm r remove unlink prune version shrinkwrap cache set edit', {
    ...CHANGES,
    does: 'write:. code',
  }),
  config: SETTINGS,
  c: SETTINGS,
  pkg: { commands: { get: QUERY, ...rows('set delete fix', { other: true, does: 'edit:package.json' }) } },
  cache: { other: true },
  set: { other: true, does: 'edit:~/.npmrc' },
  pack: { other: true, does: 'write:. code' },
  ...rows(
    'publish unpublish deprecate undeprecate dist-tag dist-tags owner access team org star unstar hook stage',
    PUBLISHES,
  ),
  ...rows('login logout adduser add-user token trust', LOGIN),
  ...rows('exec x init create innit', RUNS_PACKAGE),
}

const OTHER_NODE: ProgramTable = {
  ...NPM,
  ...rows('dlx create', RUNS_PACKAGE),
  exec: RUNS,
  ...rows('node workspaces workspace foreach plugin patch patch-commit deploy rebuild approve-builds', RUNS),
  ...rows(
    'store licenses env setup self-update dedupe import fetch constraints explain versions policies set',
    { other: true, does: 'host write:.' },
  ),
  install: INSTALLS,
  global: INSTALLS,
  upgrade: INSTALLS,
  'upgrade-interactive': INSTALLS,
  'install-test': INSTALLS_LIST,
}

const NODE_OPTIONS =
  '-C,--prefix,--dir,--cwd,--modules-folder=chdir -s,--silent -g,--global --version!stop -v!stop -h,--help!stop --workspaces -ws -r,--recursive -F,--filter,--loglevel,--registry,--cache,--workspace,-w=text --userconfig,--globalconfig=script --script-shell,--node-options,--git,--shell,--editor,--viewer=shell --if-present --offline --prefer-offline --no-fund --no-audit --json --color,--no-color --stream --parallel --frozen-lockfile --ignore-scripts --quiet,-q'

const PIP: ProgramTable = {
  install: {
    other: true,
    options:
      '-r,--requirement,-c,--constraint=read -e,--editable=install -t,--target,--prefix,--root,--src,--log,--report,--cache-dir=write -i,--index-url,--extra-index-url=url -f,--find-links=url --python-version,--platform,--abi,--implementation,--only-binary,--no-binary,--progress-bar,--upgrade-strategy,--timeout,--retries,--proxy,--trusted-host=text',
    args: 'install*:',
    does: 'host code',
  },
  download: {
    other: true,
    options: '-r,-c=read -d,--dest=write',
    args: 'install*:',
    does: 'host code write:.',
  },
  wheel: {
    other: true,
    options: '-r,-c=read -w,--wheel-dir=write',
    args: 'install*:',
    does: 'host code write:.',
  },
  uninstall: { other: true, options: '-r=read', args: 'text*', does: 'install' },
  ...rows('list show freeze check help debug cache inspect hash completion', { other: true }),
  ...rows('search index', { other: true, does: 'host' }),
  config: {
    commands: {
      ...rows('list get debug', QUERY),
      ...rows('set unset edit', { other: true, does: 'edit:~/.config/pip/pip.conf' }),
    },
  },
}

const UV: ProgramTable = {
  pip: {
    commands: {
      ...PIP,
      sync: { args: 'read*', other: true, does: 'install host code' },
      compile: { args: 'read*', options: '-o,--output-file=write', other: true, does: 'host' },
      tree: { other: true },
    },
  },
  ...rows('add remove', INSTALLS),
  ...rows('sync lock', INSTALLS_LIST),
  run: { other: true, options: '--with=install', args: 'command', does: 'code host install' },
  tool: {
    commands: {
      run: RUNS_PACKAGE,
      install: INSTALLS,
      list: { other: true },
      ...rows('uninstall upgrade update-shell dir', INSTALLS),
    },
  },
  ...rows('python self', { other: true, args: 'text*', does: 'host install' }),
  venv: { other: true, args: 'write:.venv' },
  ...rows('tree version help cache', { other: true }),
  init: { other: true, args: 'write:.' },
  build: { other: true, does: 'code write:dist' },
  publish: PUBLISHES,
}

const CARGO: ProgramTable = {
  ...rows(
    'build b check c test t run r bench clippy doc d rustc rustdoc miri nextest tarpaulin expand llvm-cov watch insta',
    {
      other: true,
      options: '--target-dir=write --manifest-path=read --config=setting',
      args: 'text*',
      does: 'code write:target',
    },
  ),
  ...rows('tree metadata pkgid locate-project verify-project version help read-manifest', { other: true }),
  ...rows('search info outdated audit deny', { other: true, does: 'host' }),
  fmt: { other: true, does: 'write:.' },
  clean: { other: true, does: 'delete:target' },
  fix: { other: true, does: 'code write:.' },
  ...rows('new init', { other: true, args: 'write:.' }),
  ...rows('add update fetch generate-lockfile vendor', INSTALLS),
  ...rows('remove rm', CHANGES),
  ...rows('install binstall', {
    other: true,
    options: '--path=read --git=url --root=write --version,--features,-j=text',
    args: 'install*:',
    does: 'host code',
  }),
  uninstall: { other: true, does: 'install' },
  package: { other: true, does: 'code write:target' },
  ...rows('publish yank owner', PUBLISHES),
  ...rows('login logout', LOGIN),
}

const GO: ProgramTable = {
  ...rows('build test run generate tool vet', {
    other: true,
    long: true,
    options:
      '-o,-coverprofile,-cpuprofile,-memprofile,-trace,-outputdir=write -exec,-toolexec,-vettool=shell -C=chdir -run,-bench,-count,-tags,-timeout,-ldflags,-gcflags,-mod,-p,-cover,-covermode,-cpu,-parallel,-skip=text -race -v',
    args: 'text*',
    does: 'code write:.',
  }),
  ...rows('list version doc help bug', {
    other: true,
    long: true,
    options: '-toolexec,-exec=shell -C=chdir',
  }),
  env: { other: true, options: '-w!edit:~/.config/go/env -u!edit:~/.config/go/env' },
  ...rows('fmt fix', { other: true, does: 'write:.' }),
  ...rows('get install', { other: true, args: 'install*:', does: 'host code write:.' }),
  mod: {
    commands: {
      ...rows('tidy download vendor', { other: true, does: 'install host write:.' }),
      ...rows('init edit', { other: true, does: 'edit:go.mod' }),
      ...rows('graph verify why', { other: true }),
    },
  },
  work: { other: true, does: 'write:.' },
  clean: {
    other: true,
    long: true,
    options: '-modcache,-cache,-testcache,-fuzzcache!delete:~/go',
    does: 'delete:.',
  },
  telemetry: { other: true },
}

const SYSTEM: Row = {
  other: true,
  options: '-o,-c,-t=text',
  commands: {
    ...rows('install reinstall add build-dep', {
      other: true,
      options: '-t,-o,--target-release=text',
      args: 'install*:',
      does: 'host code',
    }),
    ...rows('remove purge autoremove del erase uninstall rm autopurge', {
      other: true,
      args: 'install*:',
      does: 'code',
    }),
    ...rows(
      'update upgrade dist-upgrade full-upgrade makecache fetch groupinstall groupupdate localinstall distro-sync',
      { other: true, does: 'install host code' },
    ),
    ...rows(
      'list search show info policy depends rdepends showpkg changelog madison provides repolist check-update outdated deps uses leaves config desc doctor home --version stats pkgnames dotty unmet cat',
      { other: true, does: 'host' },
    ),
    ...rows('clean autoclean cleanup', { other: true }),
    ...rows('services bundle tap untap link unlink pin unpin edit create extract audit', {
      other: true,
      args: 'text*',
      does: 'install host code',
    }),
    download: { other: true, args: 'text*', does: 'host write:.' },
    source: { other: true, args: 'text*', does: 'host write:.' },
  },
}

/** The table. */
export const PACKAGES: ProgramTable = {
  npm: { options: NODE_OPTIONS, commands: NPM },
  pnpm: { options: NODE_OPTIONS, commands: OTHER_NODE, otherwise: RUNS },
  yarn: { options: NODE_OPTIONS, commands: OTHER_NODE, otherwise: RUNS },
  npx: RUNS_PACKAGE,
  pnpx: RUNS_PACKAGE,
  bunx: RUNS_PACKAGE,
  uvx: RUNS_PACKAGE,
  pipx: {
    commands: {
      run: RUNS_PACKAGE,
      list: { other: true },
      ...rows('install inject upgrade upgrade-all uninstall reinstall ensurepath', INSTALLS),
    },
    options: '--version!stop',
  },
  bun: {
    otherwise: RUNS,
    options: '--cwd=chdir --version,-v!stop --help,-h!stop --revision!stop',
    commands: {
      ...rows('run test build start dev repl', RUNS),
      ...rows('install i add update remove rm link', INSTALLS),
      ...rows('x create init', RUNS_PACKAGE),
      publish: PUBLISHES,
      pm: { other: true },
      upgrade: INSTALLS,
    },
  },
  corepack: { other: true, does: 'install host code' },
  pip: {
    options:
      '--version,-V!stop -q,--quiet -v,--verbose --disable-pip-version-check --no-cache-dir --no-input --isolated --require-virtualenv --python=script --proxy=text',
    commands: PIP,
  },
  uv: {
    options:
      '--version,-V!stop -q,--quiet -v,--verbose --directory,--project=chdir --no-cache --offline --color=text',
    commands: UV,
  },
  poetry: {
    options: '-C,--directory,-P,--project=chdir -n,--no-interaction -q,--quiet -v,-vv,-vvv --version,-V!stop',
    commands: {
      ...rows('add remove', INSTALLS),
      ...rows('install update lock sync', INSTALLS_LIST),
      run: { other: true, args: 'command', does: 'code' },
      ...rows('shell build', { other: true, args: 'text*', does: 'code' }),
      ...rows('show check env about list version config search', QUERY),
      ...rows('new init', CHANGES),
      publish: PUBLISHES,
      self: INSTALLS,
    },
  },
  pipenv: {
    commands: {
      ...rows('install update sync upgrade', INSTALLS),
      ...rows('run shell', RUNS),
      ...rows('graph lock check requirements', ASKS),
      uninstall: INSTALLS,
    },
  },
  conda: {
    commands: {
      ...rows('install update create remove upgrade', INSTALLS),
      ...rows('list info config', QUERY),
      search: ASKS,
      run: RUNS,
      env: INSTALLS,
      activate: RUNS,
    },
  },
  twine: {
    commands: {
      upload: { other: true, args: 'read*', does: 'publish host' },
      check: { other: true, args: 'read*' },
    },
  },
  cargo: {
    options:
      '-q,--quiet -v,--verbose --version,-V!stop -C=chdir --config=setting --offline --locked --frozen --color=text --list!stop',
    commands: CARGO,
  },
  rustup: { other: true, args: 'text*', does: 'install host' },
  rustc: { other: true, options: '-o,--out-dir=write --version,-V!stop', args: 'read*', does: 'write:.' },
  rustfmt: { other: true, options: '--check', args: 'edit*' },
  go: { options: '', commands: GO },
  ...rows('goimports gofumpt', {
    other: true,
    options: '-w -d -l -e -v -extra -format-only -local,-lang,-modpath,-srcdir=text',
    args: 'read*:.',
    also: '-w=write',
    long: true,
  }),
  gofmt: { other: true, options: '-w -d -l -s -r=text', args: 'read*:.', also: '-w=write' },
  gem: {
    commands: {
      ...rows('install update uninstall', INSTALLS),
      ...rows('list search info environment which contents specification', ASKS),
      build: { other: true, args: 'read', does: 'code write:.' },
      ...rows('push yank owner', PUBLISHES),
      signin: LOGIN,
    },
    options: '--version,-v!stop',
  },
  bundle: {
    commands: {
      ...rows('install update add remove lock', INSTALLS),
      ...rows('exec binstubs', RUNS),
      ...rows('list show info outdated check config', RUNS),
    },
    options: '--version,-v!stop',
  },
  composer: {
    commands: {
      ...rows('install update require remove create-project global', INSTALLS),
      ...rows('show outdated validate info search audit why', ASKS),
      ...rows('run-script run exec dump-autoload dumpautoload', RUNS),
    },
    options: '--version,-V!stop -d,--working-dir=chdir -n,-q,-v',
  },
  mix: { other: true, args: 'text*', does: 'code write:.' },
  dotnet: { other: true, args: 'text*', does: 'code host write:.' },
  nuget: { other: true, args: 'text*', does: 'install host' },
  apt: SYSTEM,
  'apt-get': SYSTEM,
  'apt-cache': SYSTEM,
  aptitude: SYSTEM,
  brew: SYSTEM,
  yum: SYSTEM,
  dnf: SYSTEM,
  apk: SYSTEM,
  port: SYSTEM,
  snap: SYSTEM,
  flatpak: SYSTEM,
  zypper: SYSTEM,
  pacman: {
    other: true,
    options: '-S,-U,-Sy,-Syu,-Syyu,--sync,--upgrade!install -R,-Rs,-Rns,--remove!install',
    long: true,
    args: 'text*',
    does: 'host code',
  },
  dpkg: {
    other: true,
    options:
      '-l,--list!stop -L,--listfiles!stop -s,--status!stop -S,--search!stop --print-architecture!stop -i,--install!install -r,--remove!install -P,--purge!install',
    args: 'read*',
    does: 'code',
  },
  'dpkg-query': { other: true },
  rpm: {
    other: true,
    options: '-q,-qa,-qi,-ql,-qf,--query!stop -i,-U,-e,-ivh,-Uvh!install',
    long: true,
    args: 'read*',
    does: 'code',
  },
  nix: { other: true, args: 'text*', does: 'install host code' },
  'nix-shell': { other: true, args: 'text*', does: 'install host code' },
  nvm: { other: true, args: 'text*', does: 'install host code' },
  fnm: { other: true, args: 'text*', does: 'install host code' },
  asdf: { other: true, args: 'text*', does: 'install host code' },
  mise: { other: true, args: 'text*', does: 'install host code' },
  pyenv: { other: true, args: 'text*', does: 'install host code' },
}
