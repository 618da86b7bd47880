// Settings that a command gives to git or ssh for one run.

const HARMLESS =
  /^(?:user\.(?:name|email|signingkey)|color\.[\w.]+|core\.(?:quotepath|autocrlf|eol|filemode|ignorecase|longpaths|abbrev|safecrlf|precomposeunicode|compression|bare)|init\.defaultbranch|advice\.[\w.]+|commit\.(?:gpgsign|verbose)|tag\.gpgsign|log\.\w+|diff\.(?:algorithm|renames|renamelimit|context|noprefix|mnemonicprefix|wserrorhighlight|colormoved)|merge\.(?:conflictstyle|renamelimit|ff)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|parallel)|rebase\.(?:autostash|autosquash|updaterefs)|status\.\w+|branch\.sort|tag\.sort|column\.\w+|pack\.\w+|gc\.(?:auto|autodetach)|http\.(?:postbuffer|version|lowspeedlimit|lowspeedtime)|safe\.directory|submodule\.recurse|index\.\w+|feature\.\w+|versionsort\.\w+|blame\.\w+|grep\.\w+|help\.autocorrect|apply\.whitespace|(?:core|pager)\.\w+=(?:cat|true|false|))(?:=|$)/i

const HARMLESS_SSH =
  /^(?:StrictHostKeyChecking|ConnectTimeout|ServerAlive(?:Interval|CountMax)|BatchMode|LogLevel|Port|User|IdentitiesOnly|Compression|TCPKeepAlive|AddressFamily|NumberOfPasswordPrompts|PasswordAuthentication|PubkeyAuthentication|PreferredAuthentications|ForwardAgent|RequestTTY|ControlMaster|ControlPersist|UserKnownHostsFile=\/dev\/null|HostKeyAlgorithms|KexAlgorithms|Ciphers|MACs)[= ]/i

/** Returns whether a setting `NAME=VALUE` runs nothing and sends nothing elsewhere. */
export function isHarmlessSetting(text: string | undefined): boolean {
  return text !== undefined && (HARMLESS.test(text) || HARMLESS_SSH.test(text))
}
