// Programs that talk to other machines.

import type { Row, ProgramTable } from '../row.ts'

const SSH: Row = {
  options:
    '-i,-F,-I,-S=read -E=write -J=host -o=setting -b,-B,-c,-D,-e,-L,-l,-m,-O,-p,-Q,-R,-W,-w=text -f!background -4,-6,-A,-a,-C,-G,-g,-K,-k,-M,-N,-n,-q,-s,-T,-t,-V,-v,-X,-x,-Y,-y',
  args: 'host text*',
  does: 'code',
  stops: true,
}

/** The table. */
export const NETWORK: ProgramTable = {
  curl: {
    options:
      '-o,--output,--output-dir,-c,--cookie-jar,-D,--dump-header,--trace,--trace-ascii,--stderr,--etag-save,--hsts,--alt-svc,--libcurl,--egd-file=write -O,--remote-name,--remote-name-all,-J,--remote-header-name!write:. -d,--data,--data-binary,--data-ascii,--data-urlencode,--json,--url-query,-F,--form,-H,--header,--proxy-header,-w,--write-out,-b,--cookie=data --data-raw,--form-string=text -T,--upload-file,--cacert,--capath,-E,--cert,--key,--netrc-file,--etag-compare,--crlfile,--pubkey,--random-file,--proxy-cacert,--proxy-cert,--proxy-key=read -K,--config=script -x,--proxy,--preproxy,--socks5,--socks5-hostname,--socks4,--socks4a,--proxy1.0,--doh-url,--dns-servers,--connect-to,--resolve,--haproxy-clientip=host --url=url --unix-socket,--abstract-unix-socket=write -n,--netrc,--netrc-optional!read:~/.netrc -u,--user,-X,--request,-A,--user-agent,-e,--referer,-m,--max-time,--connect-timeout,--retry,--retry-delay,--retry-max-time,--limit-rate,-r,--range,-C,--continue-at,-z,--time-cond,--max-redirs,--max-filesize,-y,--speed-time,-Y,--speed-limit,--ciphers,--tls-max,--tls13-ciphers,--interface,--local-port,-U,--proxy-user,--pass,--cert-type,--key-type,--keepalive-time,--expect100-timeout,--proto,--proto-default,--proto-redir,--rate,--parallel-max,-t,--telnet-option,--oauth2-bearer,--aws-sigv4,--create-file-mode,--happy-eyeballs-timeout-ms,--dns-interface,--dns-ipv4-addr,--curves,--delegation,--ftp-account,--ftp-method,-P,--ftp-port,-Q,--quote,--variable,--expand-url=text',
    args: 'url*',
    other: true,
  },
  wget: {
    options:
      '-O,--output-document,-o,--output-file,-a,--append-output,-P,--directory-prefix,--save-cookies,--warc-file,--rejected-log=write -i,--input-file,--load-cookies,--post-file,--body-file,--certificate,--private-key,--ca-certificate=read --config,-e,--execute,--use-askpass=code -B,--base=url --bind-address,-T,--timeout,-t,--tries,-w,--wait,-Q,--quota,-U,--user-agent,--header,--referer,--user,--password,--post-data,--body-data,--method,-A,-R,-D,-I,-X,-l,--level,--accept,--reject,--domains,--exclude-domains,--limit-rate,--max-redirect,--cut-dirs,--progress,--retry-connrefused,--waitretry,--secure-protocol=text -b,--background!background',
    args: 'url*',
    does: 'write:.',
    other: true,
  },
  http: {
    options:
      '-o,--output,--download=write -a,--auth,-A,--verify,--timeout,--proxy,-p,--print,--style,-s,--session=text',
    args: 'text* url',
    does: 'host',
    other: true,
  },
  https: { options: '-o,--output=write', args: 'text* url', does: 'host', other: true },
  aria2c: {
    other: true,
    options: '-d,-o,--dir,--out=write -i=read --on-download-complete=shell',
    args: 'url*',
    does: 'write:.',
  },
  ssh: SSH,
  'ssh-copy-id': { options: '-i=read -p=text', args: 'host', other: true, does: 'code' },
  'ssh-keygen': {
    options: '-f=edit -C,-N,-P,-t,-b,-O,-I,-n,-V,-z,-F,-m=text -R=text -s,-r=read -D=code',
    args: 'text*',
    other: true,
  },
  'ssh-keyscan': { options: '-f=read -t,-p,-T=text', args: 'host*', other: true },
  'ssh-add': { options: '-t,-E,-T=text -s,-e=code', args: 'read*:~/.ssh', other: true },
  'ssh-agent': { other: true, args: 'command', does: 'background' },
  scp: {
    options:
      '-i,-F=read -J=host -o=setting -S,-D=shell -c,-l,-P,-X=text -3,-4,-6,-A,-B,-C,-O,-p,-q,-R,-r,-s,-T,-v',
    args: 'from* to',
  },
  sftp: {
    options:
      '-i,-F,-b=read -J=host -o=setting -S,-D,-s=shell -B,-c,-l,-P,-R,-X=text -4,-6,-A,-a,-C,-f,-N,-p,-q,-r,-v',
    args: 'host write',
    does: 'code',
  },
  rsync: {
    options:
      '-e,--rsh=shell --rsync-path=shell --password-file,--exclude-from,--include-from,--files-from,--early-input=read --log-file,-T,--temp-dir,--partial-dir,--backup-dir,--write-batch,--only-write-batch=write --compare-dest,--copy-dest,--link-dest,--read-batch=read --address,--port,--bwlimit,--exclude,--include,-f,--filter,--chmod,--chown,-B,--block-size,--max-size,--min-size,--timeout,--contimeout,--suffix,--info,--debug,--out-format,--modify-window,--max-delete,--iconv,--checksum-choice,--compress-level,--skip-compress,--stop-after,-M,--remote-option,--usermap,--groupmap,--sockopts,--outbuf,--protocol,--checksum-seed=text --daemon!background --config=script -a,--archive -v,--verbose -q,--quiet -c,--checksum -r,--recursive -R,--relative -u,--update -l,--links -L,--copy-links -H,--hard-links -p,--perms -o,--owner -g,--group -D -t,--times -S,--sparse -n,--dry-run -W,--whole-file -x -z,--compress -h,--human-readable -P --progress --partial --stats -i,--itemize-changes -A,-X,-E,-O,-J,-k,-K,-d,-y,-0,-4,-6,-C,-F,-I,-s,-b,-U,-N,-m --existing --ignore-existing --ignore-errors --force --prune-empty-dirs --safe-links --no-owner,--no-group,--no-perms,--no-times,--no-relative,--no-implied-dirs --numeric-ids --inplace --append --append-verify --mkpath --fuzzy --size-only --copy-unsafe-links --delete,--delete-before,--delete-during,--del,--delete-delay,--delete-after,--delete-excluded,--delete-missing-args --remove-source-files --backup --list-only --open-noatime --fake-super --super --one-file-system --keep-dirlinks --omit-dir-times --no-whole-file --protect-args --secluded-args --old-args --trust-sender',
    args: 'from* to',
  },
  nc: {
    options:
      '-l,--listen!background -e,-c,--exec,--sh-exec=shell -p,-s,-w,-i,-q,-x,-X,-I,-O,-T,-m,-P,-b,--source-port,--source=text',
    args: 'text*',
    other: true,
  },
  ncat: {
    options:
      '-l,--listen!background -e,-c,--exec,--sh-exec=shell --lua-exec=script -p,-s,-w,-i,-d,-x,-m,--source-port,--source,--proxy-auth,--proxy-type=text --proxy=host -o,-x,--output,--hex-dump=write',
    args: 'text*',
    other: true,
  },
  netcat: {
    options: '-l,--listen!background -e,-c,--exec,--sh-exec=shell -p,-s,-w,-i,-q,-x,-X=text',
    args: 'text*',
    other: true,
  },
  socat: { other: true, args: 'code*', does: 'host background' },
  telnet: { other: true, options: '-l,-b,-e=text -n=write', args: 'host text*' },
  ftp: { other: true, args: 'host text*', does: 'code' },
  ping: { options: '-c,-i,-W,-w,-s,-t,-I,-Q=text', args: 'host', other: true },
  ping6: { options: '-c,-i,-W,-w,-s,-t,-I,-Q=text', args: 'host', other: true },
  traceroute: { options: '-m,-p,-q,-w,-f=text', args: 'host text*', other: true },
  dig: { other: true, options: '-t,-p,-c,-q=text -f,-k=read', args: 'text*', does: 'host' },
  nslookup: { other: true, args: 'text*', does: 'host' },
  host: { other: true, args: 'text*', does: 'host' },
  whois: { options: '-h,--host=host -p=text', args: 'text*', does: 'host', other: true },
  nmap: { other: true, options: '--script=code -iL=read -oN,-oX,-oG,-oA=write', args: 'host*', does: 'host' },
  openssl: {
    commands: {
      s_client: {
        other: true,
        long: true,
        options:
          '-connect,-host,-proxy=host -servername,-port,-starttls=text -cert,-key,-CAfile=read -keylogfile,-sess_out=write',
        does: '',
      },
      ...Object.fromEntries(
        'x509 req rsa ec pkcs12 pkey pkcs8 genrsa genpkey ecparam dgst enc verify crl ca rand asn1parse cms smime version ciphers speed passwd prime list help md5 sha256 sha1 base64'
          .split(' ')
          .map((name) => [
            name,
            {
              other: true,
              long: true,
              options:
                '-in,-inkey,-CA,-CAfile,-CAkey,-cert,-certfile,-config,-extfile,-signature,-verify,-prverify=read -out,-keyout,-CAserial,-writerand=write -sign=read -engine,-provider,-provider-path=code -inform,-outform,-subj,-days,-newkey,-passin,-passout,-pass,-k,-K,-iv,-md,-addext,-set_serial,-name,-macopt,-mac,-hmac,-checkend,-nameopt,-ext=text',
              args: 'read*',
            },
          ]),
      ),
    },
  },
  gpg: {
    other: true,
    options:
      '-o,--output=write --homedir=edit --import -u,-r,--recipient,--local-user,--passphrase=text --keyserver=host --recv-keys,--send-keys,--search-keys,--refresh-keys!host --passphrase-file=read --export-secret-keys,--export-secret-subkeys,--decrypt,-d!secret --photo-viewer,--exec-path,--agent-program=shell',
    args: 'read*',
    does: 'edit:~/.gnupg',
  },
}
