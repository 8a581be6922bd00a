import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { MachineBootSource } from '../../machine/index.js'
import { Scope } from '../../base/runtime/index.js'
import type { Inventory } from '../../base/wire/index.js'
import { debianProgram, pythonPeer } from './peers.js'
import { relay } from './peers/ipa/relay.mjs'
import { REAL_PEER_TIMEOUT } from './limits.js'

const PEER = fileURLToPath(new URL('./peers/ipa/', import.meta.url))
/** Every distribution that is installed, pinned. */
const PINNED = fileURLToPath(new URL('./peers/ipa.txt', import.meta.url))

/** Programs with which the agent could change this host. They are stubs in its namespaces. */
const PROGRAMS = `
  poweroff reboot shutdown halt chroot hostnamectl coreos-installer hwclock partprobe sgdisk wipefs hdparm mdadm nvme
  blkdiscard shred dd ip modprobe multipath multipathd efibootmgr umount mount sync blockdev udevadm lsblk lshw iscsistart
  chronyc chronyd ntpdate timedatectl systemctl parted sfdisk partx journalctl ipmitool dmidecode qemu-img mkfs.ext4
  mkfs.vfat podman docker stress-ng fio gpu-burn grub-install grub2-install`
  .trim()
  .replace(/\s+/g, ' ')

/** Once for all machines that begin together. */
let installed: Promise<string> | undefined

/** The folder of the real agent, installed the first time. */
export const ipaPeer = (): Promise<string> => (installed ??= pythonPeer(PINNED))

export interface IpaOptions {
  /** The URL of an Ironic on loopback, without `/v1`; the same address reaches it from within the namespace. */
  ironicUrl: string
  /** The hardware of the machine. */
  inventory: Inventory
  /** Further options that it knows from its file alone (`enable_auto_tls` ...). */
  config?: Readonly<Record<string, string | number | boolean>>
}

/** A machine whose ramdisk has the real ironic-python-agent in it; nothing of it is this host's. */
export interface IpaMachine extends AsyncDisposable {
  /** Host and port at which the agent is reached, and which it advertises. */
  readonly address: string
  power(): 'on' | 'off'
  setBoot(source: MachineBootSource): Promise<void>
  /** Resolves once the ramdisk is started, not before the agent is up. */
  setPower(to: 'on' | 'off' | 'reboot'): Promise<void>
  /** The operations on its disks, firmware and power that the agent attempted, in order. */
  operations(): Promise<{ operation: string; [detail: string]: unknown }[]>
  /** How the agent itself last switched the machine, which then followed; undefined while it has not. */
  switched(): 'poweroff' | 'reboot' | undefined
  /** The end of what it logged. */
  logged(): Promise<string>
}

/**
 * Makes a machine, switched off, for the real agent, installing that first where it is not.
 *
 * @throws when it cannot be installed: a missing peer is a failure, never a skip
 */
export async function ipaMachine({ ironicUrl, inventory, config = {} }: IpaOptions): Promise<IpaMachine> {
  const venv = await ipaPeer()
  for (const program of ['unshare', 'mount', 'setpriv']) await debianProgram(program, 'util-linux')
  await debianProgram('ip', 'iproute2')
  // Short: the path of a Unix socket has 107 characters at most.
  const folder = await mkdtemp(join(tmpdir(), 'ipa-'))
  const at = (name: string): string => join(folder, name)
  const freed = new Scope()
  freed.onClose(() => rm(folder, { recursive: true, force: true }))
  try {
    for (const name of ['boot.sh', 'stub.sh', 'relay.mjs']) await cp(join(PEER, name), at(name))
    for (const name of ['practice_hardware.py', 'practice-1.dist-info'])
      await cp(join(PEER, name), at(`managers/${name}`), { recursive: true })
    await writeFile(at('inventory.json'), JSON.stringify(inventory))
    // Sockets with a path lead through a network namespace's wall; within, both sides have the ports that they have without.
    const { port: ironicPort } = new URL(ironicUrl)
    freed.use(await relay(at('ironic.socket'), ironicPort))
    const { port } = freed.use(await relay('0', at('agent.socket')))
    await writeFile(at('ipa.conf'), ini(logging(config, at('ipa.log'))))

    const argv = ['boot.sh', folder, process.execPath, join(venv, 'bin/python'), join(venv, 'bin/ironic-python-agent')]
    const relayed = [ironicPort, at('ironic.socket'), at('agent.socket'), String(port)]
    const boot = async (parameters: Readonly<Record<string, string>>): Promise<ChildProcess> => {
      const kernelParameters = { 'ipa-api-url': ironicUrl, ...hasty(port), ...parameters }
      const words = Object.entries(kernelParameters).map(([name, value]) => `${name}=${value}`)
      await writeFile(at('cmdline'), `${words.join(' ')}\n`)
      return spawnTo(at('stdout.log'), 'setpriv', [...NAMESPACES, 'bash', ...argv, PROGRAMS, '--', ...relayed], folder)
    }
    const text = (name: string): Promise<string> => readFile(at(name), 'utf8').catch(() => '')
    let source: MachineBootSource = { kind: 'disk' }
    let power: 'on' | 'off' = 'off'
    let running: ChildProcess | undefined
    let switched: 'poweroff' | 'reboot' | undefined
    const asked = async (): Promise<typeof switched> => {
      const word = (await text('power')).trim()
      return word === 'poweroff' || word === 'reboot' ? word : undefined
    }
    const end = async (): Promise<void> => {
      const child = running
      running = undefined
      if (child && child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit')
        // Takes the namespaces' first process along, and so all in them.
        child.kill('SIGKILL')
        await gone
      }
      switched = (await asked()) ?? switched
    }
    const operations = async (): Promise<{ operation: string }[]> =>
      (await text('operations.jsonl'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { operation: string })
    /** Ironic switches fake hardware off as soon as the agent has taken the command to do so, which needs a moment. */
    const poweredOffByAgent = async (): Promise<void> => {
      for (let waited = 0; waited < MAX_SHUTDOWN_TIME; waited += 100) {
        const isShuttingDown = (await operations()).at(-1)?.operation === 'full_sync'
        if ((await asked()) || (waited >= MIN_SHUTDOWN_TIME && !isShuttingDown)) return
        await sleep(100)
      }
    }
    const setPower = async (to: 'on' | 'off' | 'reboot'): Promise<void> => {
      if (to === 'on' && power === 'on') return
      if (running) await poweredOffByAgent()
      await end()
      power = to === 'off' ? 'off' : 'on'
      if (power === 'on' && source.kind === 'ramdisk') await follow((running = await boot(source.parameters)))
    }
    /** Follow the power commands of the agent. */
    const follow = async (child: ChildProcess): Promise<void> => {
      await rm(at('power'), { force: true })
      freed.spawn(
        async (signal) => {
          while (running === child) {
            const word = await asked()
            if (word) {
              switched = word
              await sleep(ANSWERING, undefined, { signal })
              if (running === child) await setPower(word === 'reboot' ? 'reboot' : 'off')
            } else await sleep(100, undefined, { signal })
          }
        },
        () => {},
      )
    }
    const killed = (): void => void running?.kill('SIGKILL')
    process.once('exit', killed)
    freed.onClose(() => void process.removeListener('exit', killed))
    freed.onClose(end)
    return {
      address: `127.0.0.1:${port}`,
      power: () => power,
      setBoot: async (next) => void (source = next),
      setPower,
      operations,
      switched: () => switched,
      logged: async () => (await Promise.all(['ipa.log', 'stdout.log'].map(text))).join('\n').slice(-20_000),
      [Symbol.asyncDispose]: () => freed[Symbol.asyncDispose](),
    }
  } catch (error) {
    await freed[Symbol.asyncDispose]()
    throw error
  }
}

/** Time for the agent to start its shutdown once Ironic powers the machine off, and to end it, in milliseconds. */
const MIN_SHUTDOWN_TIME = 2000
const MAX_SHUTDOWN_TIME = 30_000

/** How long a machine that was told to go down still runs, in milliseconds. */
const ANSWERING = 500

/** The namespaces end with the process that made them, even when a test is killed. */
const NAMESPACES = [
  '--pdeathsig',
  'KILL',
  'unshare',
  '--net',
  '--mount',
  '--pid',
  '--uts',
  '--ipc',
  '--cgroup',
  '--fork',
  '--kill-child=SIGKILL',
  '--propagation',
  'private',
]

/** Where it is reached, and no waiting for what no machine here has. */
const hasty = (port: number): Record<string, string> => ({
  'ipa-listen-host': '127.0.0.1',
  'ipa-listen-port': `${port}`,
  'ipa-advertise-host': '127.0.0.1',
  'ipa-advertise-port': `${port}`,
  'ipa-inspection-dhcp-wait-timeout': '0',
  'ipa-disk-wait-attempts': '0',
  'ipa-lookup-timeout': '120',
})

const logging = (config: IpaOptions['config'], file: string) => ({
  debug: true,
  use_stderr: false,
  log_file: file,
  ...config,
})

const ini = (options: Readonly<Record<string, unknown>>): string =>
  ['[DEFAULT]', ...Object.entries(options).map(([name, value]) => `${name} = ${String(value)}`), ''].join('\n')

function spawnTo(log: string, program: string, argv: readonly string[], cwd: string): ChildProcess {
  const out = openSync(log, 'a')
  // A proxy of this host's environment would be asked for Ironic.
  const env = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C.UTF-8' }
  const child = spawn(program, argv, { cwd, stdio: ['ignore', out, out], env })
  closeSync(out)
  return child
}

/**
 * Waits for the agent to answer its own API.
 *
 * @throws with what it logged, when it does not in a minute
 */
export async function answering(machine: IpaMachine, protocol = 'http'): Promise<void> {
  const deadline = Date.now() + REAL_PEER_TIMEOUT
  while (Date.now() < deadline) {
    // A connection that was made before the agent listens may never be answered.
    const signal = AbortSignal.timeout(2000)
    const response = await fetch(`${protocol}://${machine.address}/v1/status`, { signal }).catch(() => undefined)
    if (response?.ok) return
    await sleep(100)
  }
  throw new Error(`the real agent does not answer:\n${await machine.logged()}`)
}
