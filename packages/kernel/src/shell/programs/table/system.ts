// Processes, services, users, disks, containers, clouds and databases.

import type { Row, ProgramTable } from '../row.ts'

function rows(names: string, row: Row): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, row]))
}

const WRAPPER_SUDO: Row = {
  options:
    '-u,--user,-g,--group,-p,--prompt,-C,--close-from,-h,--host,-r,--role,-t,--type,-T,--command-timeout,-U,--other-user=text -D,--chdir,-R,--chroot=chdir -A,-b,-E,-H,-K,-k,-l,-n,-P,-S,-V,-v,--askpass,--background,--non-interactive,--stdin,--validate,--list,--preserve-groups,--set-home,--reset-timestamp,--remove-timestamp,--bell,-B,-N --preserve-env? -s,-i,--shell,--login!code -e,--edit!edit:/',
  args: 'command',
  does: 'privileged',
}

const DOCKER_RUN: Row = {
  options:
    '-v,--volume,--mount=volume --env-file,--label-file=read --cidfile=write -d,--detach!background --privileged!privileged -e,--env,-p,--publish,-w,--workdir,--name,-u,--user,--network,--net,--entrypoint,--platform,-m,--memory,--cpus,-h,--hostname,--restart,-l,--label,--link,--add-host,--dns,--cap-add,--cap-drop,--gpus,--ulimit,--shm-size,--ipc,--pid,--uts,--userns,--device,--tmpfs,--log-driver,--log-opt,--pull,--stop-signal,--stop-timeout,--security-opt,--health-cmd,--volumes-from,--expose,--cgroupns,--runtime,--annotation=text -i,-t,-P,--rm,--init,--interactive,--tty,--read-only,--quiet,-q,--no-healthcheck',
  args: 'install text*',
  stops: true,
  does: 'code host',
}

const COMPOSE: Row = {
  options:
    '-f,--file,--env-file=script -p,--project-name,--profile,--ansi,--progress,--parallel=text --project-directory=chdir --verbose --version!stop',
  commands: {
    ...rows('ps logs config images ls top port version events stats volumes', { other: true }),
    up: { other: true, options: '-d,--detach!background', does: 'code host' },
    ...rows('build run exec pull push create start restart watch cp attach commit export publish', {
      other: true,
      args: 'text*',
      does: 'code host',
    }),
    ...rows('down stop kill rm pause unpause', { other: true, args: 'kill*:*' }),
  },
}

const DOCKER: ProgramTable = {
  ...rows('ps images logs inspect stats top port version info history diff events search wait', {
    other: true,
  }),
  run: DOCKER_RUN,
  create: DOCKER_RUN,
  ...rows('exec start restart attach', { other: true, args: 'text*', does: 'code' }),
  build: {
    other: true,
    options:
      '-f,--file=read -t,--tag,--build-arg,--target,--platform,--cache-from,--cache-to,--network,--progress,--label=text -o,--output,--iidfile,--metadata-file=write --secret,--ssh=code',
    args: 'read',
    does: 'code host',
  },
  buildx: { other: true, args: 'text*', does: 'code host' },
  pull: { other: true, args: 'install*', does: 'host' },
  push: { other: true, args: 'text*', does: 'publish host' },
  ...rows('stop kill rm pause unpause', { other: true, args: 'kill*' }),
  ...rows('rmi tag commit rename update import', { other: true, args: 'text*' }),
  load: { other: true, options: '-i,--input=read' },
  ...rows('save export', { other: true, options: '-o,--output=write', args: 'text*' }),
  cp: { other: true, args: 'from to' },
  ...rows('login logout', { other: true, does: 'host secret' }),
  compose: COMPOSE,
  ...rows('container image', { other: true, args: 'text*', does: 'code kill' }),
  ...rows('network volume context builder manifest', { other: true, args: 'text*' }),
  system: {
    commands: {
      df: { other: true },
      info: { other: true },
      ...rows('prune events', { other: true, does: 'kill' }),
    },
  },
  ...rows('swarm service stack node secret config plugin', { other: true, args: 'text*', does: 'code host' }),
}

const KUBECTL: ProgramTable = {
  ...rows(
    'get describe logs top explain version cluster-info api-resources api-versions diff wait events auth',
    {
      other: true,
      options:
        '-f,--filename,-k=read -n,--namespace,-o,--output,-l,--selector,-c,--container,--context,--tail,--since=text',
      does: 'host',
    },
  ),
  config: { other: true, does: 'edit:~/.kube/config' },
  ...rows(
    'apply create replace patch edit set label annotate scale autoscale rollout expose taint cordon uncordon',
    { other: true, options: '-f,--filename,-k=read', args: 'text*', does: 'host publish' },
  ),
  ...rows('delete drain', {
    other: true,
    options: '-f,--filename=read',
    args: 'text*',
    does: 'host kill publish',
  }),
  ...rows('exec run attach debug port-forward proxy', { other: true, args: 'text*', does: 'host code' }),
  cp: { other: true, args: 'from to', does: 'host' },
}

const CLOUD: Row = {
  other: true,
  options: '--cli-input-json,--body,--template-file,--parameters,--zip-file=data',
  args: 'text*',
  does: 'host',
}
const DATABASE: Row = {
  other: true,
  options:
    '-h,--host=host -f,--file=script -o,--output,-L,--log-file=write -c,--command,-e,--execute=code -U,-p,-d,-P,-u,--username,--dbname,--port,-D,-v,--set=text',
  args: 'text*',
  does: 'host code',
}

/** The table. */
export const SYSTEM: ProgramTable = {
  sudo: WRAPPER_SUDO,
  doas: { options: '-u,-C=text -n,-L,-s', args: 'command', does: 'privileged' },
  su: {
    options: '-c,--command,--session-command=shell -s,--shell,-g,-G,-w=text -l,-m,-p,-f,--login',
    args: 'text*',
    does: 'privileged code',
  },
  runuser: { options: '-u=text -c=shell -l', args: 'command', does: 'privileged' },
  pkexec: { options: '--user=text --disable-internal-agent', args: 'command', does: 'privileged' },
  chroot: { options: '--userspec,--groups=text --skip-chdir', args: 'read command', does: 'privileged code' },
  unshare: { other: true, args: 'command', does: 'privileged' },
  nsenter: { other: true, args: 'text*', does: 'privileged code' },
  nice: { options: '-n,--adjustment=text -1,-2,-3,-4,-5,-6,-7,-8,-9,-0', args: 'command' },
  ionice: { options: '-c,-n,-p,-P,-u,--class,--classdata=text -t', args: 'command' },
  chrt: { other: true, args: 'text command' },
  taskset: { options: '-c,--cpu-list -a -p', args: 'text command' },
  nohup: { args: 'command', does: 'background write:nohup.out' },
  setsid: { options: '-w,--wait -f,--fork -c,--ctty', args: 'command', does: 'background' },
  disown: { other: true, does: 'background' },
  timeout: {
    options: '-s,--signal,-k,--kill-after=text --preserve-status,--foreground,-v,--verbose',
    args: 'text command',
  },
  gtimeout: {
    options: '-s,--signal,-k,--kill-after=text --preserve-status,--foreground,-v,--verbose',
    args: 'text command',
  },
  stdbuf: { options: '-i,-o,-e,--input,--output,--error=text', args: 'command' },
  unbuffer: { options: '-p', args: 'command' },
  caffeinate: { options: '-t,-w=text -d,-i,-m,-s,-u', args: 'command' },
  flock: {
    options:
      '-w,--timeout,--wait,-E=text -c,--command=shell -s,-x,-e,-n,-u,-o,-F,-v,--shared,--exclusive,--nonblock,--nb,--unlock',
    args: 'write command',
  },
  setarch: { other: true, args: 'text command' },
  prlimit: { other: true, args: 'text*', does: 'code' },
  'systemd-run': { other: true, args: 'command', does: 'background privileged' },
  pkill: { options: '-s,-u,-g,-P,-t,-U,-G,-F,--signal,--pidfile=text', args: 'kill*', other: true },
  killall: { options: '-s,-u,-o,-y,--signal,--user=text', args: 'kill*', other: true },
  fuser: { options: '-k,--kill!kill -n,-s,--namespace=text', args: 'text*', other: true },
  skill: { args: 'kill*', other: true },
  renice: { other: true },
  ...rows('shutdown reboot halt poweroff init telinit', { other: true, does: 'kill privileged' }),
  systemctl: {
    options:
      '-H,--host=host -t,--type,-p,--property,-n,-o,-s,--signal,--state,-M=text --user --no-pager --no-legend -q,--quiet -a,--all -l,--full --now -f,--force',
    commands: {
      ...rows(
        'status show list-units list-unit-files is-active is-enabled is-failed cat list-timers list-sockets list-dependencies get-default help',
        { other: true },
      ),
      ...rows('stop kill restart try-restart reload reload-or-restart isolate', {
        other: true,
        args: 'kill*',
      }),
      start: { other: true, does: 'background code' },
      ...rows('enable disable mask unmask daemon-reload edit set-default link reenable preset set-property', {
        other: true,
        does: 'background privileged',
      }),
      ...rows('reboot poweroff halt suspend hibernate rescue emergency', {
        other: true,
        does: 'kill privileged',
      }),
    },
  },
  service: { other: true, args: 'kill text*', does: 'code background' },
  launchctl: { other: true, args: 'text*', does: 'background code' },
  journalctl: {
    other: true,
    options:
      '-u,-n,-S,-U,-p,-o,--since,--until,--unit,-g=text -D,--file=read --vacuum-size,--vacuum-time!delete:/var/log',
  },
  ...rows(
    'mount umount losetup swapon swapoff modprobe insmod rmmod sysctl iptables ip6tables nft ufw ifconfig route ip hostnamectl timedatectl localectl setenforce visudo mkswap fdisk parted wipefs blkdiscard cryptsetup',
    { other: true, args: 'edit*', does: 'privileged' },
  ),
  ip: { other: true },
  ifconfig: { other: true },
  mount: { other: true, options: '-o,-t=text', args: 'edit*', does: 'privileged' },
  ...rows('mkfs mkfs.ext4 mkfs.xfs mkfs.vfat mke2fs', { other: true, args: 'write*', does: 'privileged' }),
  ...rows('useradd userdel usermod groupadd groupdel passwd chpasswd adduser deluser chsh chfn gpasswd', {
    other: true,
    args: 'text*',
    does: 'privileged',
  }),
  defaults: { other: true, args: 'text*', does: 'edit:~/Library/Preferences' },
  security: { other: true, args: 'text*', does: 'secret' },
  ...rows('pass op bw vault keyring secret-tool', { other: true, args: 'text*', does: 'secret host' }),
  docker: {
    options: '-H,--host=host --context,-l,--log-level=text --config=read -D,--debug -v,--version!stop --tls',
    commands: DOCKER,
  },
  podman: { options: '--version,-v!stop --log-level=text', commands: DOCKER },
  nerdctl: { options: '-n,--namespace=text', commands: DOCKER },
  'docker-compose': COMPOSE,
  kubectl: {
    options: '-n,--namespace,--context,--cluster,--user=text --kubeconfig=script -s,--server=host',
    commands: KUBECTL,
  },
  helm: {
    commands: {
      ...rows('list ls status get history search show version env lint', { other: true, does: 'host' }),
      template: { other: true, does: 'host code' },
      ...rows('install upgrade rollback push', {
        other: true,
        options: '-f,--values=read',
        does: 'host publish code',
      }),
      ...rows('uninstall delete', { other: true, does: 'host publish kill' }),
      ...rows('repo dependency dep pull plugin', { other: true, args: 'text*', does: 'host write:.' }),
    },
    options: '-n,--namespace=text',
  },
  terraform: {
    options: '-chdir=chdir -version,--version!stop',
    long: true,
    commands: {
      ...rows('fmt', { other: true, does: 'write:.' }),
      ...rows('validate show output providers graph version workspace state console get', {
        other: true,
        does: 'code',
      }),
      ...rows('init plan refresh import test', { other: true, does: 'code host write:.' }),
      ...rows('apply destroy', { other: true, does: 'code host publish' }),
      login: { other: true, does: 'secret host' },
    },
  },
  ...rows('aws gcloud gsutil az doctl linode-cli hcloud oci ibmcloud s3cmd rclone bq eksctl', CLOUD),
  ...rows('psql mysql mariadb mongosh mongo redis-cli sqlcmd clickhouse-client cqlsh influx', DATABASE),
  ...rows('pg_dump pg_dumpall mysqldump mongodump', {
    other: true,
    options: '-h,--host=host -f,--file,-o,--out=write -U,-p,-d,-P,-u,-n,-t=text',
    args: 'text*',
    does: 'host secret',
  }),
  ...rows('pg_restore mongorestore mysqlimport createdb dropdb createuser dropuser', {
    other: true,
    options: '-h,--host=host',
    args: 'text*',
    does: 'host code',
  }),
  mail: { other: true, args: 'text*', does: 'host publish' },
  sendmail: { other: true, args: 'text*', does: 'host publish' },
  mutt: { other: true, args: 'text*', does: 'host publish' },
}
