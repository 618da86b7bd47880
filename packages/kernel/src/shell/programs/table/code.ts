// Programs that run code which is not in the command: interpreters, build tools, test runners.

import type { Row, ProgramTable } from '../row.ts'

const RUNS: Row = { options: '--version,-V!stop --help!stop', args: 'text*', does: 'code', other: true }
const RUNS_AND_WRITES: Row = { ...RUNS, does: 'code write:.' }

function rows(names: string, row: Row): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, row]))
}

const PYTHON: Row = {
  options:
    '-c=code -m=module -W,-X,--check-hash-based-pycs=text -V,--version,-h,--help!stop -u,-B,-E,-I,-O,-OO,-P,-s,-S,-q,-v,-b,-d,-x,-i',
  args: 'script:- text*',
  first: '-c -m',
  stops: true,
}

/** The table. */
export const CODE: ProgramTable = {
  ...rows(
    'python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3',
    PYTHON,
  ),
  ipython: RUNS,
  jupyter: RUNS_AND_WRITES,
  node: {
    options:
      '-v,--version,-h,--help!stop -e,--eval,-p,--print,-pe=code -c,--check=read -r,--require,--import,--loader,--experimental-loader,--env-file,--env-file-if-exists=script --run=code --max-old-space-size,-C,--conditions,--inspect-port,--stack-size,--title,--test-name-pattern,--test-reporter,--test-reporter-destination=text --test!code --watch!background --inspect?text --inspect-brk?text -i,--interactive',
    args: 'script:- text*',
    first: '-e --eval -p --print -pe -c --check --test --run',
    stops: true,
    other: true,
  },
  deno: {
    commands: {
      ...rows('run test bench compile serve task eval x repl install add', {
        other: true,
        args: 'text*',
        does: 'code host',
      }),
      ...rows('fmt', { other: true, args: 'edit*:.' }),
      ...rows('lint check info doc types', { other: true, args: 'read*' }),
      upgrade: { other: true, does: 'install host' },
      publish: { other: true, does: 'publish host' },
    },
    options: '--version,-V!stop',
  },
  ruby: {
    options: '-e=code -v,--version!stop -r,-I,-C=text -w,-W,-n,-p,-l,-a,-c',
    args: 'script:- text*',
    first: '-e',
    stops: true,
  },
  perl: {
    options:
      '-e,-E=code -v,--version,-V!stop -I,-M,-m=text -i?text -n,-p,-l,-a,-w,-W,-c,-0,-s,-t,-T,-U,-x,-C',
    args: 'script:- read*',
    first: '-e -E',
    also: '-i=write',
  },
  php: {
    options: '-r,-R,-B,-E=code -f,-F,-c,-z=script -l=read -v,--version,-i,-m!stop -d,-S,-t=text',
    args: 'script:- text*',
    first: '-r -l -S',
    stops: true,
    other: true,
  },
  lua: { options: '-e=code -l=text -v!stop', args: 'script:- text*', other: true },
  java: {
    options: '-version,--version!stop -jar=script -cp,-classpath,--class-path=text',
    args: 'text*',
    does: 'code',
    long: true,
    other: true,
  },
  javac: {
    options: '-d,-s,-h=write -cp,-classpath,--class-path,-source,-target,--release=text',
    args: 'read*',
    does: 'code write:.',
    long: true,
    other: true,
  },
  kotlin: RUNS,
  kotlinc: RUNS_AND_WRITES,
  scala: RUNS,
  groovy: RUNS,
  swift: RUNS_AND_WRITES,
  xcodebuild: RUNS_AND_WRITES,
  xcrun: RUNS_AND_WRITES,
  osascript: RUNS,
  Rscript: RUNS,
  julia: RUNS,
  elixir: RUNS,
  erl: RUNS,
  ghc: RUNS_AND_WRITES,
  cabal: RUNS_AND_WRITES,
  stack: RUNS_AND_WRITES,
  zig: RUNS_AND_WRITES,
  dart: RUNS_AND_WRITES,
  flutter: RUNS_AND_WRITES,
  tclsh: RUNS,
  expect: RUNS,
  gdb: RUNS,
  lldb: RUNS,
  pwsh: RUNS,
  powershell: RUNS,
  'cmd.exe': RUNS,
  ...rows('make gmake', {
    options:
      '-C,--directory=chdir -f,--file,--makefile=script -j,--jobs?text -n,--just-print,--dry-run -v,--version,-h,--help!stop -I,-o,-W,-l,--eval=text -B,-s,-k,-e,-i,-q,-r,-R,-S,-t,-w,--always-make,--silent,--keep-going,--no-print-directory',
    args: 'text*',
    does: 'code',
  }),
  ...rows(
    'ninja cmake ctest cpack meson bazel bazelisk buck2 scons ant mvn mvnw gradle gradlew sbt lein just task tox nox invoke fab rake rspec rails nx turbo lerna rush moon wireit concurrently nodemon tsx ts-node ts-node-dev esbuild webpack vite rollup parcel next nuxt astro remix svelte-kit ng vue-cli-service gatsby storybook start-storybook hardhat truffle forge expo react-native electron electron-builder pm2 foreman overmind honcho puma gunicorn uvicorn flask django-admin celery streamlit manage.py alembic prisma drizzle-kit knex sequelize typeorm husky lint-staged changeset semantic-release standard-version release-it commitlint commitizen cz pre-commit hugo jekyll mkdocs sphinx-build sphinx-autobuild docusaurus typedoc jsdoc tauri wails swiftlint pod carthage fastlane bats shellspec terragrunt ansible ansible-playbook ansible-galaxy vagrant packer pulumi cdk sam serverless sls amplify firebase vercel netlify wrangler fly flyctl heroku act dagger earthly skaffold tilt sqlx diesel buf protoc gn tsup unbuild tsdown rolldown rspack swc babel pkg ncc api-extractor',
    RUNS_AND_WRITES,
  ),
  ...rows(
    'pytest py.test vitest jest mocha ava tap c8 nyc karma cypress playwright wdio testcafe jasmine unittest nosetests coverage hypothesis phpunit pest',
    RUNS_AND_WRITES,
  ),
  ...rows(
    'eslint prettier stylelint tslint xo standard biome oxlint oxfmt dprint markdownlint markdownlint-cli2 htmlhint',
    RUNS_AND_WRITES,
  ),
  ...rows(
    'mypy pyright pylint flake8 bandit pyre pytype vulture semgrep rubocop sorbet golangci-lint staticcheck phpstan psalm ktlint detekt checkstyle',
    RUNS,
  ),
  tsc: {
    options:
      '-v,--version,-h,--help!stop -p,--project=read --outDir,--outFile,--declarationDir,--tsBuildInfoFile=write -t,--target,-m,--module,--lib,--jsx,--moduleResolution=text --noEmit',
    args: 'read*',
    does: 'write:.',
    other: true,
    long: false,
  },
  ...rows('black isort autopep8 yapf autoflake pyupgrade shfmt clang-format', {
    other: true,
    args: 'edit*:.',
  }),
  ruff: {
    commands: {
      ...rows('check format', { other: true, options: '--config,--output-file=write', args: 'edit*:.' }),
      ...rows('rule linter version config clean', { other: true }),
    },
  },
  shellcheck: { other: true, options: '-s,-e,-f,-S,-o,-i=text', args: 'read*' },
  hadolint: { other: true, args: 'read*' },
  yamllint: { other: true, options: '-c,-d,-f=text', args: 'read*' },
  actionlint: { other: true, options: '-shellcheck,-pyflakes=shell', args: 'read*' },
  cloc: { other: true, args: 'read*' },
  tokei: { other: true, args: 'read*:.' },
  scc: { other: true, args: 'read*:.' },
  ctags: { other: true, options: '-f,-o=write --options=script', args: 'read*', does: 'write:tags' },
  ...rows('gcc g++ clang clang++ cc c++ ld as nasm', {
    other: true,
    long: true,
    options:
      '-o=write -wrapper,-B,-specs,-fplugin=code -MF,-dumpdir,-save-temps?write -I,-L,-l,-D,-U,-x,-include,-std,-MT,-MQ,-isystem=text',
    args: 'read*',
    does: 'write:a.out',
  }),
  ...rows('nm objdump readelf size addr2line ldd otool c++filt', { other: true, args: 'read*' }),
  objcopy: { other: true, args: 'edit*' },
  strip: { other: true, options: '-o=write', args: 'edit*' },
  ranlib: { other: true, args: 'edit*' },
  ...rows('strace ltrace', {
    options:
      '-o=write -e,-p,-s,-a,-O,-S,-E,-u,-P,-I=text -f,-ff,-c,-C,-d,-D,-F,-h,-i,-k,-n,-q,-r,-t,-tt,-ttt,-T,-v,-V,-x,-xx,-y,-yy,-z,-Z',
    args: 'command',
  }),
  perf: RUNS_AND_WRITES,
  valgrind: RUNS_AND_WRITES,
  hyperfine: { ...RUNS_AND_WRITES, options: '-i,-N' },
  watchexec: RUNS,
  entr: RUNS,
  parallel: RUNS,
  script: RUNS_AND_WRITES,
  crontab: { other: true, options: '-l!stop -u=text', args: 'script', does: 'background' },
  at: { other: true, options: '-f=script -t,-q=text -l,-c!stop', args: 'text*', does: 'background code' },
  batch: { other: true, does: 'background code' },
  tmux: { other: true, args: 'text*', does: 'background code' },
  screen: { other: true, args: 'text*', does: 'background code' },
  claude: { ...RUNS, does: 'code host' },
  codex: { ...RUNS, does: 'code host' },
  opencode: { ...RUNS, does: 'code host' },
  copilot: { ...RUNS, does: 'code host' },
  gemini: { ...RUNS, does: 'code host' },
  aider: { ...RUNS, does: 'code host' },
}
