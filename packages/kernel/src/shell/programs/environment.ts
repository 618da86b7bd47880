// Environment variables that change what programs do: which files they run, and where they connect to.

import { exactText, type Field } from '../script/field.ts'
import { unknown, type Shell } from '../script/shell.ts'
import { noteHost, notePath } from './note.ts'

/** Variables that contain code, or say where code is. */
const CODE =
  /^(?:PATH|IFS|BASH_ENV|ENV|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|BASH_LOADABLES_PATH|BASH_XTRACEFD|FPATH|ZDOTDIR|SHELL|FCEDIT|GLOBIGNORE|CDPATH|OLDPWD|PWD|HOME|XDG_CONFIG_(?:HOME|DIRS)|LD_.*|DYLD_.*|GCONV_PATH|GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|TRACE$|PAGER$|EDITOR$|SEQUENCE_EDITOR$).*|NODE_OPTIONS|NODE_REPL_EXTERNAL_MODULE|PYTHON(?:STARTUP|HOME|BREAKPOINT|INSPECT|USERBASE)|PERL5(?:OPT|DB|SHELL)|RUBYOPT|JAVA_TOOL_OPTIONS|_?JDK_JAVA_OPTIONS|_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|LESSOPEN|LESSCLOSE|(?:MAN|SYSTEMD_|DELTA_|BAT_)?PAGER|GIT_PAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|SUDO_EDITOR|BROWSER|(?:SSH|SUDO)_ASKPASS|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|TAPE|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|CC|CXX|LD|AR|CFLAGS|CXXFLAGS|LDFLAGS|RUSTC(?:_.*)?|RUSTFLAGS|CARGO_(?!TERM_|INCREMENTAL$|BUILD_JOBS$|NET_OFFLINE$|TARGET_DIR$|PROFILE_).*|GO(?:FLAGS|PROXY|NOSUMDB|SUMDB|PRIVATE|INSECURE)|npm_config_.*|NPM_CONFIG_.*|YARN_.*|PIP_.*|UV_.*|DOCKER_(?!BUILDKIT$).*|KUBECONFIG|GREP_OPTIONS|TERMINFO.*|OPENSSL_CONF|MANOPT|MANROFFOPT|WGETRC|CURL_HOME|INPUTRC|ANSIBLE_.*|VIMINIT|EXINIT|AWKPATH|AWKLIBPATH|PGSERVICEFILE|PSQLRC|PSQL_EDITOR)$/

/** Values of these variables that change nothing of importance. */
const HARMLESS: Readonly<Record<string, RegExp>> = {
  NODE_OPTIONS:
    /^(?: *--(?:max-old-space-size=\d+|enable-source-maps|no-warnings|no-deprecation|trace-warnings|experimental-vm-modules|stack-trace-limit=\d+))* *$/,
  PAGER: /^(?:cat|less|more|true)?$/,
  GIT_PAGER: /^(?:cat|less|more|true)?$/,
  MANPAGER: /^(?:cat|less|more)?$/,
  SYSTEMD_PAGER: /^(?:cat|less|more)?$/,
  EDITOR: /^(?:true|:|cat)?$/,
  GIT_EDITOR: /^(?:true|:|cat)?$/,
  GIT_SEQUENCE_EDITOR: /^(?:true|:|cat)?$/,
  VISUAL: /^(?:true|:|cat)?$/,
  CC: /^(?:gcc|clang|cc)(?:-\d+)?$/,
  CXX: /^(?:g\+\+|clang\+\+|c\+\+)(?:-\d+)?$/,
  CFLAGS: /^[-\w=. ]*$/,
  CXXFLAGS: /^[-\w=.+ ]*$/,
  BROWSER: /^(?:none|true)?$/,
  HOME: /^$/,
  GOFLAGS: /^-(?:mod=\w+|count=\d+|v)$/,
  PYTHONINSPECT: /^$/,
  npm_config_yes: /^(?:true|false)$/,
  RUSTFLAGS: /^[-\w= ]*$/,
}

const PROXY = /^(?:https?|all|ftp)_proxy$/i
const WRITES = new Set(['HISTFILE', 'GIT_TRACE_FILE', 'NODE_V8_COVERAGE'])

/** Notes what a variable does to the programs that see it. */
export function noteVariable(name: string, value: Field, shell: Shell): void {
  const text = exactText(value)
  if (PROXY.test(name)) noteHost(text ?? '', shell)
  else if (WRITES.has(name)) notePath('writes', value, shell)
  else if (CODE.test(name) && !(text !== undefined && isHarmless(name, text))) {
    unknown(shell, `the variable \`${name}\` changes what programs do`)
  }
}

function isHarmless(name: string, text: string): boolean {
  return Object.hasOwn(HARMLESS, name) && HARMLESS[name]?.test(text) === true
}
