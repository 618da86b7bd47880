// Git. Files that a subcommand changes in the working tree are the directory itself.

import type { Row, ProgramTable } from '../row.ts'

const QUERY: Row = {
  other: true,
  options: '--output=write --ext-diff,--textconv!code -O?shell --open-files-in-pager?shell',
  args: 'object*',
}
const CHANGES_TREE: Row = { other: true, args: 'text*', does: 'write:.' }
const LOCAL: Row = { other: true, options: '--output=write -F,--file=read', args: 'text*' }
const NETWORK: Row = {
  other: true,
  options: '--upload-pack,--exec=shell',
  args: 'remote text*',
  does: 'host',
}
const PROGRAMS = '--exec,-x=shell'

const SUBCOMMANDS: ProgramTable = {
  ...rows(
    'status log show diff shortlog blame annotate grep rev-parse rev-list describe ls-files ls-tree cat-file name-rev reflog whatchanged show-ref for-each-ref merge-base cherry count-objects var version help diff-tree diff-index diff-files range-diff show-branch verify-commit verify-tag check-ignore check-attr check-ref-format fsck column stripspace get-tar-commit-id',
    QUERY,
  ),
  ...rows(
    'branch tag stash notes replace  gc prune pack-refs repack update-index update-ref symbolic-ref write-tree commit-tree hash-object mktree read-tree rerere sparse-checkout',
    LOCAL,
  ),
  ...rows('add commit checkout switch restore reset merge cherry-pick revert stage', CHANGES_TREE),
  'ls-remote': NETWORK,
  add: { other: true, options: '--pathspec-from-file=read --chmod=text', args: 'read*', does: 'write:.git' },
  stage: { other: true, options: '--pathspec-from-file=read', args: 'read*', does: 'write:.git' },
  commit: {
    other: true,
    options:
      '-m,--message,--author,--date,-c,-C,--reuse-message,--reedit-message,--fixup,--squash,--trailer,--cleanup=text -F,--file,-t,--template,--pathspec-from-file=read -S,--gpg-sign?',
    args: 'text*',
    does: 'write:.git',
  },
  mv: { other: true, args: 'move* write' },
  rm: { other: true, options: '--pathspec-from-file=read', args: 'delete*' },
  clean: { other: true, options: '-e,--exclude=text', args: 'delete*:.' },
  apply: {
    other: true,
    options: '--exclude,--include,-p,-C,--directory,--whitespace=text --build-fake-ancestor=write',
    args: 'read*',
    does: 'edit:.',
  },
  am: { other: true, args: 'read*', does: 'edit:.' },
  'format-patch': {
    other: true,
    options: '-o,--output-directory=write --stdout',
    args: 'text*',
    does: 'write:.',
  },
  archive: {
    other: true,
    options:
      '-o,--output=write --remote=url --exec=shell --format,--prefix,--add-virtual-file=text --add-file=read',
    args: 'text*',
  },
  bundle: {
    commands: {
      create: { args: 'write text*', other: true },
      verify: { args: 'read', other: true },
      'list-heads': { args: 'read text*', other: true },
      unbundle: { args: 'read text*', other: true },
    },
  },
  rebase: { other: true, options: PROGRAMS, args: 'text*', does: 'write:.' },
  bisect: {
    commands: {
      run: { args: 'command' },
      ...rows('start good bad new old skip reset log view visualize terms next', CHANGES_TREE),
      replay: { args: 'read' },
    },
  },
  fetch: NETWORK,
  maintenance: { other: true, does: 'background' },
  pull: { ...NETWORK, does: 'host write:.' },
  clone: {
    other: true,
    options:
      '-b,--branch,--depth,-j,--jobs,-o,--origin,--filter,--shallow-since,--shallow-exclude,--server-option=text -c,--config=setting -u,--upload-pack=shell --template,--reference,--reference-if-able=read --separate-git-dir=write --recurse-submodules?',
    args: 'from write:.',
  },
  push: {
    other: true,
    options: '-o,--push-option=text --repo=push --receive-pack,--exec=shell --force-with-lease?',
    args: 'push:* text*',
    does: 'host',
  },
  remote: {
    commands: {
      ...rows('show get-url -v', QUERY),
      update: NETWORK,
      prune: NETWORK,
      add: { other: true, options: '-t,-m=text', args: 'text from', does: 'write:.git/config' },
      'set-url': { other: true, args: 'text from', does: 'write:.git/config' },
      ...rows('rename remove rm set-head set-branches', { other: true, does: 'write:.git/config' }),
    },
    options: '-v,--verbose',
  },
  submodule: {
    options: '-q,--quiet',
    commands: {
      ...rows('status summary absorbgitdirs', QUERY),
      foreach: { options: '--recursive -q,--quiet', args: 'shell' },
      add: {
        other: true,
        options: '-b,--name,--reference,--depth=text',
        args: 'from write',
        does: 'write:.gitmodules',
      },
      ...rows('update init sync deinit set-branch set-url', { other: true, does: 'host write:.' }),
    },
  },
  worktree: {
    commands: {
      list: QUERY,
      add: { other: true, options: '-b,-B,--reason=text', args: 'write text' },
      remove: { other: true, args: 'delete' },
      move: { other: true, args: 'move write' },
      ...rows('prune lock unlock repair', LOCAL),
    },
  },
  lfs: {
    commands: {
      ...rows('ls-files status env version logs track untrack', LOCAL),
      ...rows('pull fetch checkout install', { other: true, does: 'host write:.' }),
      push: { other: true, args: 'push text*', does: 'host' },
    },
  },
  init: {
    other: true,
    options: '-b,--initial-branch,--shared,--object-format=text --template=read --separate-git-dir=write',
    args: 'write:.',
  },
  config: {
    other: true,
    options: '-f,--file,--blob=edit --type,--default,--comment,--value=text --edit,-e!code',
    args: 'text*',
  },
  difftool: { other: true, does: 'code' },
  mergetool: { other: true, does: 'code' },
  credential: { other: true, does: 'secret' },
  'filter-branch': { other: true, does: 'code write:.' },
  'filter-repo': { other: true, does: 'code write:.' },
  'send-email': { other: true, args: 'read*', does: 'host code' },
  'request-pull': { other: true, args: 'text url text*' },
  gui: { other: true, does: 'background' },
  svn: { other: true, does: 'host code write:.' },
  daemon: { other: true, does: 'background' },
  'update-server-info': LOCAL,
}

function rows(names: string, row: Row): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, row]))
}

const OPTIONS =
  '-C=chdir --git-dir=edit --work-tree=edit -c=setting --config-env=setting --exec-path?script -p,--paginate -P,--no-pager --no-replace-objects --bare --literal-pathspecs --glob-pathspecs --no-optional-locks --namespace=text -v,--version!stop -h,--help!stop --html-path,--man-path,--info-path!stop'

/** The table. */
export const GIT: ProgramTable = {
  git: { options: OPTIONS, commands: SUBCOMMANDS },
  gh: {
    commands: {
      auth: {
        commands: {
          status: hosted(''),
          token: { other: true, does: 'secret' },
          ...rows('login logout refresh setup-git switch', { other: true, does: 'host secret' }),
        },
      },
      pr: gh(
        'list view status diff checks',
        'checkout',
        'create edit comment review merge close reopen ready lock unlock update-branch',
      ),
      issue: gh(
        'list view status',
        '',
        'create edit comment close reopen delete transfer pin unpin lock unlock develop',
      ),
      run: gh('list view watch', 'download', 'cancel rerun delete'),
      workflow: gh('list view', '', 'run enable disable'),
      repo: {
        commands: {
          ...rows('list view', hosted('')),
          clone: { other: true, args: 'text write:.', does: 'host' },
          ...rows('create delete edit fork archive unarchive rename sync set-default', {
            other: true,
            does: 'host publish',
          }),
        },
      },
      release: gh('list view', 'download', 'create edit delete upload delete-asset'),
      gist: {
        commands: {
          ...rows('list view', hosted('')),
          create: {
            other: true,
            options: '-d,-f,--desc,--filename=text',
            args: 'read*',
            does: 'host publish',
          },
          ...rows('edit delete rename', { other: true, does: 'host publish' }),
          clone: { other: true, args: 'text write', does: 'host' },
        },
      },
      search: { other: true, does: 'host' },
      browse: { other: true, does: 'host background' },
      api: {
        options:
          '-X,--method,-H,--header,-q,--jq,-t,--template,--cache,-p,--preview,--hostname=text -f,--raw-field=text -F,--field=data --input=read -i,--include --paginate --slurp --silent --verbose',
        args: 'text*',
        does: 'host',
      },
      label: gh('list', '', 'create edit delete clone'),
      cache: gh('list', '', 'delete'),
      secret: gh('list', '', 'set delete'),
      variable: gh('list get', '', 'set delete'),
      project: gh(
        'list view field-list item-list',
        '',
        'create edit delete close copy item-add item-create item-edit item-delete',
      ),
      extension: {
        commands: {
          list: { other: true },
          ...rows('install upgrade exec remove create search browse', {
            other: true,
            does: 'host install code',
          }),
        },
      },
      alias: { other: true, does: 'code' },
      config: { other: true },
      status: hosted(''),
      completion: { other: true },
      codespace: { other: true, does: 'host code' },
      version: { other: true },
      help: { other: true },
    },
    options: '--version!stop -h,--help!stop -R,--repo=text',
  },
  glab: { other: true, does: 'host publish' },
  hub: { other: true, does: 'host publish' },
}

function hosted(more: string): Row {
  return { other: true, does: `host ${more}` }
}

/** Subcommands of `gh` that read, that write files, and that change things for others. */
function gh(reads: string, files: string, changes: string): Row {
  const body =
    '-F,--body-file,--notes-file=read -D,--dir,-O,--output=write -b,--body,-t,--title,-n,--notes,-R,--repo,-L,--limit,-q,--jq,--json,-H,-B,--head,--base,-l,-a,--label,--assignee,-r,--reviewer,-w,--workflow,-s,--state,-S,--search,-A,--author,-p,-P,-u,--branch=text'
  const options = { other: true, options: body }
  return {
    commands: {
      ...rows(reads, { ...options, does: 'host' }),
      ...(files !== '' && rows(files, { ...options, does: 'host write:.' })),
      ...rows(changes, { ...options, does: 'host publish' }),
    },
  }
}
