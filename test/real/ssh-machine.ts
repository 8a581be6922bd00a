import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { realBinary } from './coreos-installer.js'
import { cachedPeer } from './peer-cache.js'
import { debianProgram, peer, tool } from './peers.js'

const run = promisify(execFile)

export const CORE_PASSWORD = 'c0re-canary-9f31'

/** Each port accepts another kind of login. */
export const PORTS = ['any', 'password', 'keyboard', 'both', 'few'] as const
type Port = (typeof PORTS)[number]

/** Keys of a user who may log in. */
export interface UserKeys {
  folder: string
  /** Private keys: one is in authorized_keys, a certificate authority has signed the other. */
  key: string
  signed: string
}

export interface MachineOptions {
  machineId?: string
  /** A loop device. */
  disk: string
  /** A machine whose ports and users this one takes over, as if it had its address. */
  instead?: SshMachine
  /**
   * True if Debian's systemd runs it, as process 1 of namespaces and of a control group of its own. It has a network of
   * its own too, and answers on the port `any` only.
   */
  systemd?: boolean
  /** True if it has host keys of its own, as after the first boot of an installed system. */
  newHostKeys?: boolean
  bootId?: string
  hostname?: string
  cmdline?: string
  /** Files below /etc. */
  etc?: Readonly<Record<string, string>>
}

export const LIVE_BOOT = '00000000-0000-4000-8000-000000000001'

/**
 * A machine with a real sshd and sudo, in namespaces of its own, on this host's loopback interface. Needs root.
 */
export class SshMachine implements AsyncDisposable {
  #child: ChildProcess | undefined
  /** Leads to the socket of a machine that has a network of its own. */
  #entrance: Server | undefined
  readonly #ownsKeys: boolean

  private constructor(
    readonly folder: string,
    readonly keys: UserKeys,
    readonly ports: Readonly<Record<Port, number>>,
    private readonly disk: string,
    private readonly systemd: boolean,
    ownsKeys: boolean,
  ) {
    this.#ownsKeys = ownsKeys
  }

  static async open(options: MachineOptions): Promise<SshMachine> {
    const { disk, instead, systemd = false } = options
    await debianProgram('ssh-keygen', 'openssh-client')
    await debianProgram('systemd-udevd', 'udev').catch(() => {})
    if (systemd) await debianProgram('systemd-run', 'systemd')
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-machine-'))
    await run('cp', ['-a', await sshPackages(), join(folder, 'packages')])
    const keys = instead?.keys ?? (await userKeys(await mkdtemp(join(tmpdir(), 'ironstage-user-'))))
    const ports = instead?.ports ?? (await freePorts())
    const machine = new SshMachine(folder, keys, ports, disk, systemd, !instead)
    try {
      await machine.#furnish(options)
      await machine.start()
      return machine
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
  }

  /** A folder with the same path on this host and in the machine. */
  get shared(): string {
    return join(this.folder, 'shared')
  }

  /** Fingerprint of its Ed25519 host key. */
  async hostKey(): Promise<string> {
    const { stdout } = await run('ssh-keygen', ['-lf', join(this.folder, 'etc/ssh/ssh_host_ed25519_key.pub')])
    return stdout.split(' ')[1]!
  }

  async setBoot(id: string): Promise<void> {
    await writeFile(join(this.folder, 'boot_id'), `${id}\n`)
  }

  async start(): Promise<void> {
    await rm(join(this.folder, 'down'), { force: true })
    const own = ['--mount', '--pid', '--fork', '--kill-child', '--uts'] as const
    const machine = ['sh', peer('ssh-machine.sh'), this.folder, this.disk]
    if (!this.systemd) this.#child = spawn('unshare', [...own, ...machine], { stdio: 'inherit' })
    else {
      this.#entrance ??= await entrance(this.ports.any, join(this.shared, 'sshd'))
      const grouped = ['--mount', 'sh', peer('own-cgroup.sh'), basename(this.folder)]
      const more = ['--ipc', '--net', '--cgroup']
      // The first process of its namespaces ends with this one, even when this one is killed.
      const argv = ['--pdeathsig', 'KILL', 'unshare', ...grouped, 'unshare', ...own, ...more, ...machine, 'systemd']
      this.#child = spawn('setpriv', argv, { stdio: 'inherit' })
    }
    await this.answers()
  }

  /** Runs shell text in the machine, as root who has logged in. */
  async run(text: string): Promise<{ code: number; stdout: string; stderr: string }> {
    const trusting = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']
    const who = ['-i', this.keys.key, '-p', String(this.ports.any), 'root@127.0.0.1']
    return tool('ssh', '-F', 'none', '-o', 'BatchMode=yes', ...trusting, ...who, text)
  }

  /** Resolves when its sshd accepts connections. */
  async answers(): Promise<void> {
    for (let tries = 0; tries < 1200; tries++) {
      if (await accepts(this.ports.any)) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const log = join(this.systemd ? this.shared : this.folder, 'sshd.log')
    throw new Error(`no sshd came up: ${await readFile(log, 'utf8').catch(String)}`)
  }

  /** Kills all its processes, as a loss of power does. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      // The kernel ends the processes of its namespaces a moment later.
      while (await accepts(this.ports.any)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    if (this.systemd) await run('unshare', ['--mount', 'sh', peer('own-cgroup.sh'), basename(this.folder)])
  }

  /** Its processes, by their ids on this host. */
  async processes(pattern: RegExp): Promise<number[]> {
    const { stdout } = await tool('ps', '-eo', 'pid=,args=')
    const { stdout: inside } = await tool(
      'sh',
      '-c',
      `for p in /proc/[0-9]*; do [ "$(readlink $p/root)" = ${this.folder}/machine/root ] && echo "\${p#/proc/}"; done; true`,
    )
    const own = new Set(inside.split('\n'))
    return stdout
      .split('\n')
      .map((line) => /^\s*(\d+) (.*)$/.exec(line))
      .filter((found) => found !== null && own.has(found[1]!) && pattern.test(found[2]!))
      .map((found) => Number(found![1]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.stop()
    } finally {
      this.#entrance?.close()
      await rm(this.folder, { recursive: true, force: true })
      if (this.#ownsKeys) await rm(this.keys.folder, { recursive: true, force: true })
    }
  }

  async #furnish(options: MachineOptions): Promise<void> {
    const { machineId = '1'.repeat(32), instead, newHostKeys = false, bootId = LIVE_BOOT } = options
    const { hostname = 'live', cmdline = 'ro quiet', etc: more = {} } = options
    const { folder, keys, ports } = this
    const etc = (name: string) => join(folder, 'etc', name)
    await mkdir(etc('ssh'), { recursive: true })
    await mkdir(this.shared)
    if (instead && !newHostKeys) await cp(join(instead.folder, 'etc/ssh'), etc('ssh'), { recursive: true })
    else
      for (const type of ['ed25519', 'rsa'])
        await run('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', etc(`ssh/ssh_host_${type}_key`)])
    const vouch = ['-q', '-s', join(keys.folder, 'ca'), '-h', '-I', 'machine', '-n', '127.0.0.1']
    await run('ssh-keygen', [...vouch, etc('ssh/ssh_host_ed25519_key.pub')])
    await writeFile(etc('machine-id'), `${machineId}\n`)
    await writeFile(etc('hostname'), `${hostname}\n`)
    for (const [name, text] of Object.entries(more)) await writeFile(etc(name), text, { mode: 0o600 })
    await writeFile(join(folder, 'cmdline'), `${cmdline}\n`)
    await writeFile(join(folder, 'boot_id'), `${bootId}\n`)
    await writeFile(join(folder, 'installer'), await realBinary())
    await compile(join(folder, 'reread.so'))
    const { stdout: hash } = await run('openssl', ['passwd', '-6', '-salt', 'ironstage', CORE_PASSWORD])
    const users = [
      ['root', 0, '/bin/sh', '*'],
      ['sshd', 74, '/usr/sbin/nologin', '*'],
      ['nobody', 65534, '/usr/sbin/nologin', '*'],
      ['core', 1000, '/bin/bash', hash.trim()],
      ['admin', 1001, '/bin/sh', '*'],
    ] as const
    await writeFile(
      etc('passwd'),
      users.map(([n, id, shell]) => `${n}:x:${id}:${id}::${n === 'root' ? '/root' : `/home/${n}`}:${shell}\n`).join(''),
    )
    await writeFile(etc('group'), users.map(([n, id]) => `${n}:x:${id}:\n`).join(''))
    await writeFile(etc('shadow'), users.map(([n, , , password]) => `${n}:${password}:19000:0:99999:7:::\n`).join(''), {
      mode: 0o640,
    })
    await mkdir(etc('pam.d'))
    const pam = ['auth', 'account', 'session'].map((kind) => `${kind} required pam_unix.so\n`).join('')
    for (const name of ['sshd', 'sudo', 'other']) await writeFile(etc(`pam.d/${name}`), pam)
    await writeFile(etc('sudoers'), 'core ALL=(ALL) ALL\nadmin ALL=(ALL) NOPASSWD: ALL\n', { mode: 0o440 })
    for (const [name, id] of users.map(([n, i]) => [n, i] as const)) {
      if (!['root', 'core', 'admin'].includes(name)) continue
      const home = join(folder, 'home', name)
      await mkdir(join(home, '.ssh'), { recursive: true, mode: 0o700 })
      await cp(`${keys.key}.pub`, join(home, '.ssh/authorized_keys'))
      await run('chown', ['-R', `${id}:${id}`, home])
      await chmod(home, 0o700)
    }
    await chmod(join(folder, 'home'), 0o755)
    await cp(join(keys.folder, 'ca.pub'), etc('ssh/ca.pub'))
    await writeFile(
      etc('ssh/sshd_config'),
      [
        ...PORTS.map((name) => `ListenAddress 127.0.0.1:${ports[name]}`),
        'HostKey /etc/ssh/ssh_host_ed25519_key',
        'HostKey /etc/ssh/ssh_host_rsa_key',
        'HostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub',
        // Longer sessions change keys several times.
        'RekeyLimit 4M',
        'PidFile /run/sshd.pid',
        'UsePAM yes',
        'PermitRootLogin yes',
        'MaxStartups 200',
        'MaxAuthTries 10',
        'TrustedUserCAKeys /etc/ssh/ca.pub',
        'LogLevel ERROR',
        'UseDNS no',
        `Match LocalPort ${ports.password}`,
        '  AuthenticationMethods password',
        `Match LocalPort ${ports.keyboard}`,
        '  AuthenticationMethods keyboard-interactive',
        `Match LocalPort ${ports.both}`,
        '  AuthenticationMethods publickey,password',
        `Match LocalPort ${ports.few}`,
        '  MaxSessions 2',
      ].join('\n') + '\n',
    )
  }
}

/** Debian's sshd and sudo, unpacked into the cache; nothing is installed. */
export const sshPackages = (): Promise<string> =>
  cachedPeer('ssh-machine', async (building) => {
    const download = () => run('apt-get', ['download', 'openssh-server', 'sudo', 'libwrap0'], { cwd: building })
    await download().catch(async () => {
      await run('apt-get', ['update'])
      await download()
    })
    await run('sh', ['-c', 'for d in *.deb; do dpkg-deb -x "$d" tree; done'], { cwd: building })
    // /lib may be a link to /usr/lib: a folder mounted over it would hide the rest.
    const mergeLib = 'if [ -d tree/lib ]; then cp -a tree/lib/. tree/usr/lib/; rm -r tree/lib; fi'
    await run('sh', ['-c', mergeLib], { cwd: building })
    return join(building, 'tree')
  })

async function userKeys(folder: string): Promise<UserKeys> {
  const file = (name: string) => join(folder, name)
  for (const [name, type] of [
    ['key', 'ed25519'],
    ['signed', 'ed25519'],
    ['ca', 'ed25519'],
    ['signed-rsa', 'rsa'],
    ['signed-ecdsa', 'ecdsa'],
  ])
    await run('ssh-keygen', ['-q', '-t', type!, '-N', '', '-f', file(name!)])
  for (const name of ['signed', 'signed-rsa', 'signed-ecdsa'])
    await run('ssh-keygen', ['-q', '-s', file('ca'), '-I', 'tester', '-n', 'core,root', file(`${name}.pub`)])
  return { folder, key: file('key'), signed: file('signed') }
}

async function compile(to: string): Promise<void> {
  await debianProgram('gcc', 'gcc')
  await run('gcc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', to, peer('reread.c'), '-ldl'])
}

/** Passes connections to a port of this host on to a socket. */
async function entrance(port: number, socket: string): Promise<Server> {
  const server = createServer((from) => {
    // Either end may break off.
    pipeline(from, connect(socket), from, () => {})
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return server
}

async function freePorts(): Promise<Record<Port, number>> {
  const servers = await Promise.all(
    PORTS.map(async (name) => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return [name, server] as const
    }),
  )
  const ports = servers.map(([name, server]) => [name, (server.address() as AddressInfo).port] as const)
  await Promise.all(servers.map(([, server]) => new Promise((resolve) => server.close(resolve))))
  return Object.fromEntries(ports) as Record<Port, number>
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => resolve(true) ?? socket.destroy())
    for (const event of ['error', 'close']) socket.once(event, () => resolve(false))
  })
