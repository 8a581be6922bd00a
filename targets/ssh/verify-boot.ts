import { minutes, seconds, UserError, userError, type Clock, type Logger } from '../../runtime/index.js'
import { limitedText } from '../supervised/limits.js'
import { LinkLost } from '../supervised/login-shell.js'
import { HostKeyRefused } from './host-keys.js'
import { SCRIPT_LINE, type HostIdentity } from './identity.js'
import { openSshShell, type SshShell, type SshShellOptions } from './ssh-shell.js'

/** A file with a secret that only the system has that was installed with it. */
export interface BootNonce {
  path: string
  secret: string
}

/** What has to be found once the machine has booted what was installed. */
export interface ExpectedBoot {
  nonce: BootNonce
  /** The disk that was chosen; what is null is not looked at. */
  disk: { serial: string | null; wwn: string | null }
  hostname: string | null
  appendKargs: readonly string[]
  deleteKargs: readonly string[]
}

export interface VerifyBootOptions {
  /** How the machine is reached; without pins for the installed system it has to prove itself by the nonce. */
  ssh: Omit<SshShellOptions, 'phase' | 'expected'>
  /** The live system, as it was before the boot. */
  before: { identity: HostIdentity; hostKey: string }
  expected: ExpectedBoot
  /** In milliseconds; twenty minutes unless told otherwise. */
  patience?: number
  /** Between two looks, in milliseconds. */
  every?: number
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

/** One thing that was looked at. */
export interface BootCheck {
  what: 'nonce' | 'hardware' | 'root' | 'hostname' | 'kernel arguments'
  ok: boolean
  /** One sentence; no secret is in it. */
  found: string
}

export interface VerifiedBoot {
  bootId: string
  /** What the system calls itself, and its root's disk. */
  system: string
  checks: BootCheck[]
}

/** What answers after the reboot is not what was installed, or nothing answers. */
export class BootNotVerified extends UserError {
  override readonly name = 'BootNotVerified'
  constructor(
    message: string,
    readonly checks: readonly BootCheck[],
    options: { remedy: string; cause?: unknown },
  ) {
    super('boot-not-verified', message, options)
  }
}

/**
 * Waits until the machine has been booted again and looks whether it runs what was installed, from the disk that was
 * chosen. The system from before that answers again, in the same boot or another, is a failure.
 *
 * @throws BootNotVerified, which says everything that is not as it should be; UserError when the host may not be spoken to
 */
export async function verifyBoot(options: VerifyBootOptions): Promise<VerifiedBoot> {
  const { before, expected, clock, logger, signal, patience = minutes(20), every = seconds(2) } = options
  const pins =
    options.ssh.pins.installed.length > 0 ? options.ssh.pins : { ...options.ssh.pins, installed: 'proven' as const }
  const limit = clock.now() + patience
  let last: Silence | undefined
  for (;;) {
    signal.throwIfAborted()
    const seen = await look({ ...options.ssh, pins, signal }, before, expected, logger)
    if ('checks' in seen) return judged(seen, options)
    if (seen.why !== last?.why) logger('info', `waiting for the installed system: ${seen.why}`)
    last = seen
    if (clock.now() >= limit) throw tooLate(last, patience, before.identity)
    await clock.sleep(every, { signal })
  }
}

interface Silence {
  why: string
  old: boolean
  cause?: unknown
}

const STILL_OLD: Silence = { why: 'the system from before the reboot still answers', old: true }

async function look(
  ssh: Omit<SshShellOptions, 'phase'>,
  before: VerifyBootOptions['before'],
  expected: ExpectedBoot,
  logger: Logger,
): Promise<VerifiedBoot | Silence> {
  try {
    await using shell = await openSshShell({ ...ssh, phase: 'installed' })
    const { bootId } = shell.identity
    if (bootId !== null && bootId === before.identity.bootId) return STILL_OLD
    logger('info', `${shell.name} has been booted`, { boot: bootId })
    return await examined(shell, before.identity, expected)
  } catch (error) {
    if (error instanceof HostKeyRefused) {
      if (error.fingerprint === before.hostKey) return STILL_OLD
      throw error
    }
    const known = userError(error)
    if (error instanceof LinkLost || known?.code === 'ssh-unreachable')
      return { why: 'nothing answers', old: false, cause: error }
    // While a system goes up or down it may let in nobody.
    if (known?.code === 'ssh-authentication' || known?.code === 'ssh-shell' || known?.code === 'ssh-no-commands')
      return { why: known.message, old: false, cause: known }
    throw error
  }
}

function tooLate({ why, old, cause }: Silence, patience: number, before: HostIdentity): BootNotVerified {
  const waited = `${Math.round(patience / minutes(1))} minutes`
  return new BootNotVerified(
    old
      ? `the machine was not booted within ${waited}: the system from before still answers (boot id ${before.bootId})`
      : `the installed system did not answer within ${waited}: ${why}`,
    [],
    {
      remedy: old
        ? 'look at why the reboot did not happen'
        : 'look at its console: the firmware may boot another disk or the network, or Ignition may have failed',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

const MARK = 'ironstage-boot'

const script = (nonce: string): Uint8Array =>
  Buffer.from(`{
exec </dev/null
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
say() { printf '\\n${MARK} %s %s\\n' "$1" "$2"; }
say nonce "$(cat '${nonce}' 2>/dev/null)"
say hostname "$(cat /proc/sys/kernel/hostname)"
say cmdline "$(cat /proc/cmdline)"
say system "$(. /etc/os-release 2>/dev/null; printf %s "$PRETTY_NAME")"
# With ostree / is no device, what is below it is.
for place in /sysroot /; do
  root=$(findmnt -n -o SOURCE "$place" 2>/dev/null | head -n 1)
  root=\${root%%\\[*}
  case $root in /dev/*) break ;; esac
done
say root "$root"
lsblk -s -n -P -o NAME,TYPE,SERIAL,WWN "$root" 2>/dev/null | while read -r line; do say disk "$line"; done
say end yes
exit 0
}
`)

async function examined(shell: SshShell, before: HostIdentity, expected: ExpectedBoot): Promise<VerifiedBoot> {
  if (!/^\/[\w./-]+$/.test(expected.nonce.path)) throw new Error(`${expected.nonce.path} is no path for a nonce`)
  const channel = await shell.open(SCRIPT_LINE, { stdin: script(expected.nonce.path) })
  const what = 'when it was asked what it booted'
  const [printed] = await Promise.all(
    [channel.stdout, channel.stderr].map((stream) => limitedText(stream, shell.name, what)),
  ).finally(() => channel.cut())
  await channel.exit
  const said = [...printed!.matchAll(new RegExp(`^${MARK} (\\w+) (.*)$`, 'gm'))].map(([, k, v]) => [k!, v!] as const)
  const all = (name: string) => said.filter(([key]) => key === name).map(([, value]) => value)
  const one = (name: string) => all(name)[0]?.trim() ?? ''
  if (one('end') === '') throw new LinkLost(`${shell.name} did not say all that was asked`)
  const root = one('root')
  const disks = all('disk')
    .map(properties)
    .filter(({ TYPE }) => TYPE === 'disk' || TYPE === 'loop')
  const system = `${one('system') || 'a system without a name'}, root on ${root || 'no device'}`
  return {
    bootId: shell.identity.bootId ?? 'unknown',
    system,
    checks: [
      nonceCheck(one('nonce'), expected.nonce, system),
      ...hardwareCheck(before, shell.identity),
      ...rootCheck(root, disks, expected.disk),
      ...hostnameCheck(one('hostname'), expected.hostname),
      ...kargChecks(one('cmdline'), expected),
    ],
  }
}

const nonceCheck = (found: string, { path, secret }: BootNonce, system: string): BootCheck => ({
  what: 'nonce',
  ok: found === secret,
  found:
    found === secret
      ? `${path} is the one that was installed`
      : `${found === '' ? `there is no ${path}` : `${path} is of another installation`}, so what runs is not what was installed but ${system}`,
})

function hardwareCheck(before: HostIdentity, now: HostIdentity): BootCheck[] {
  if (before.dmiUuid === null || now.dmiUuid === null) return []
  const ok = before.dmiUuid === now.dmiUuid
  return [
    {
      what: 'hardware',
      ok,
      found: ok ? `it is the machine ${now.dmiUuid}` : `it is the machine ${now.dmiUuid} instead of ${before.dmiUuid}`,
    },
  ]
}

function rootCheck(
  root: string,
  disks: readonly Record<string, string>[],
  { serial, wwn }: ExpectedBoot['disk'],
): BootCheck[] {
  if (serial === null && wwn === null) return []
  const same = (one: string | null, other: string | undefined) =>
    one !== null && other !== undefined && one.trim().toLowerCase() === other.trim().toLowerCase()
  const ok = disks.some((disk) => (disk['WWN'] && wwn !== null ? same(wwn, disk['WWN']) : same(serial, disk['SERIAL'])))
  const shown = disks.map(
    (disk) => `${disk['NAME']} (serial ${disk['SERIAL'] || 'unknown'}, WWN ${disk['WWN'] || 'unknown'})`,
  )
  const wanted = `serial ${serial ?? 'unknown'}, WWN ${wwn ?? 'unknown'}`
  return [
    {
      what: 'root',
      ok,
      found: `the root ${root || 'file system'} is on ${shown.join(' and ') || 'no disk that is known'}${ok ? '' : ` instead of the disk that was chosen (${wanted})`}`,
    },
  ]
}

function hostnameCheck(found: string, expected: string | null): BootCheck[] {
  if (expected === null) return []
  const ok = found === expected
  return [{ what: 'hostname', ok, found: `the hostname is ${found}${ok ? '' : ` instead of ${expected}`}` }]
}

function kargChecks(cmdline: string, { appendKargs, deleteKargs }: ExpectedBoot): BootCheck[] {
  const has = (argument: string) => ` ${cmdline} `.includes(` ${argument.trim()} `)
  return [
    ...appendKargs.map((argument): BootCheck => {
      const ok = has(argument)
      return { what: 'kernel arguments', ok, found: `the kernel argument ${argument} is ${ok ? 'there' : 'missing'}` }
    }),
    ...deleteKargs
      .filter((argument) => !appendKargs.includes(argument))
      .map((argument): BootCheck => {
        const ok = !has(argument)
        return {
          what: 'kernel arguments',
          ok,
          found: `the kernel argument ${argument} is ${ok ? 'gone' : 'still there'}`,
        }
      }),
  ]
}

function judged(seen: VerifiedBoot, { ssh, logger }: VerifyBootOptions): VerifiedBoot {
  const wrong = seen.checks.filter(({ ok }) => !ok)
  for (const { ok, found } of seen.checks) logger(ok ? 'info' : 'error', found)
  if (wrong.length === 0) return seen
  throw new BootNotVerified(
    `${ssh.address.host} did not boot what was installed: ${wrong.map(({ found }) => found).join('; ')}`,
    seen.checks,
    { remedy: 'look at the boot order of its firmware and at its console' },
  )
}

/** `NAME="sda" TYPE="disk"`, as lsblk -P has it. */
const properties = (line: string): Record<string, string> =>
  Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]))
