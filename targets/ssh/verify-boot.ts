import { defined, minutes, seconds, UserError, userError, type Clock, type Logger } from '../../base/runtime/index.js'
import { waitText } from '../supervised/conversation.js'
import { limitedText } from '../supervised/output-limits.js'
import { LinkLost } from '../supervised/login-shell.js'
import { HostKeyRefused } from './host-keys.js'
import { SCRIPT_LINE, type HostIdentity } from './ssh-identity.js'
import { openSshShell, type SshShell, type SshShellOptions } from './ssh-shell.js'

/** A file with a secret, which proves that a system is the installed one. */
export interface BootNonce {
  path: string
  secret: string
}

/** Expected state of the installed system after its first boot. */
export interface ExpectedBoot {
  nonce: BootNonce
  /** The chosen disk; null values are not checked. */
  disk: { serial: string | null; wwn: string | null }
  hostname: string | null
  appendKargs: readonly string[]
  deleteKargs: readonly string[]
}

export interface VerifyBootOptions {
  /** Connection to the machine; without pins for the installed system the nonce must prove its identity. */
  ssh: Omit<SshShellOptions, 'phase' | 'expected'>
  /** Identity and host key of the live system before the boot; null where it was another's, as an Ironic's ramdisk. */
  before: { identity: HostIdentity; hostKey: string } | null
  expected: ExpectedBoot
  /** Time limit, in milliseconds; twenty minutes by default. */
  timeout?: number
  /** Pause between two attempts, in milliseconds. */
  every?: number
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

/** Result of one check. */
interface BootCheck {
  what: 'nonce' | 'hardware' | 'root' | 'hostname' | 'kernel arguments'
  ok: boolean
  /** One sentence without secrets. */
  found: string
}

export interface VerifiedBoot {
  bootId: string
  /** Name of the system and its root device. */
  system: string
  checks: BootCheck[]
}

/** Another system than the installed one answers after the reboot, or none. */
class BootNotVerified extends UserError {
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
 * Waits until the machine has rebooted, and checks that it runs the installed system from the chosen disk. An answer of the
 * live system, also from another boot, is a failure.
 *
 * @throws BootNotVerified with all failed checks; UserError when the host key is refused
 */
export async function verifyBoot(options: VerifyBootOptions): Promise<VerifiedBoot> {
  const { before, expected, clock, logger, signal, timeout = minutes(20), every = seconds(2) } = options
  const pins =
    options.ssh.pins.installed.length > 0 ? options.ssh.pins : { ...options.ssh.pins, installed: 'proven' as const }
  const limit = clock.now() + timeout
  let last: NotYet | undefined
  for (;;) {
    signal.throwIfAborted()
    const seen = await look({ ...options.ssh, pins, signal }, before, expected, logger)
    if ('checks' in seen) return judged(seen, options)
    if (seen.why !== last?.why) logger('info', `waiting for the installed system: ${seen.why}`)
    last = seen
    if (clock.now() >= limit) throw tooLate(last, timeout, before?.identity.bootId ?? null)
    await clock.sleep(every, { signal })
  }
}

/** Attempt without an answer of the installed system. */
interface NotYet {
  why: string
  old: boolean
  cause?: unknown
}

const STILL_OLD: NotYet = { why: 'the system from before the reboot still answers', old: true }

async function look(
  ssh: Omit<SshShellOptions, 'phase'>,
  before: VerifyBootOptions['before'],
  expected: ExpectedBoot,
  logger: Logger,
): Promise<VerifiedBoot | NotYet> {
  try {
    await using shell = await openSshShell({ ...ssh, phase: 'installed' })
    const { bootId } = shell.identity
    if (bootId !== null && bootId === before?.identity.bootId) return STILL_OLD
    logger('info', `${shell.name} has booted`, { boot: bootId })
    const seen = await examined(shell, before?.identity ?? null, expected)
    const proof = seen.checks.find(({ what }) => what === 'nonce')
    // A ramdisk that nothing is known of may still be going down.
    return before === null && proof?.ok === false ? { why: proof.found, old: false } : seen
  } catch (error) {
    if (error instanceof HostKeyRefused) {
      if (error.fingerprint === before?.hostKey) return STILL_OLD
      throw error
    }
    const known = userError(error)
    if (error instanceof LinkLost || known?.code === 'ssh-unreachable')
      return { why: 'nothing answers', old: false, cause: error }
    // A system may refuse logins while it boots or shuts down.
    if (known?.code === 'ssh-authentication' || known?.code === 'target-shell' || known?.code === 'ssh-no-commands')
      return { why: known.message, old: false, cause: known }
    throw error
  }
}

function tooLate({ why, old, cause }: NotYet, timeout: number, bootId: string | null): BootNotVerified {
  const waited = waitText(timeout)
  return new BootNotVerified(
    old
      ? `the machine was not booted within ${waited}: the system from before still answers (boot id ${bootId})`
      : `the installed system did not answer within ${waited}: ${why}`,
    [],
    {
      remedy: old
        ? 'find out why the reboot did not happen'
        : 'check its console: the firmware may boot another disk or the network, or Ignition may have failed',
      ...defined({ cause }),
    },
  )
}

const BOOT_MARK = 'ironstage-boot'

const script = (nonce: string): Uint8Array =>
  Buffer.from(`{
exec </dev/null
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
say() { printf '\\n${BOOT_MARK} %s %s\\n' "$1" "$2"; }
say nonce "$(cat '${nonce}' 2>/dev/null)"
say hostname "$(cat /proc/sys/kernel/hostname)"
say cmdline "$(cat /proc/cmdline)"
say system "$(. /etc/os-release 2>/dev/null; printf %s "$PRETTY_NAME")"
# With ostree, / is not a device; /sysroot is.
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

async function examined(shell: SshShell, before: HostIdentity | null, expected: ExpectedBoot): Promise<VerifiedBoot> {
  if (!/^\/[\w./-]+$/.test(expected.nonce.path)) throw new Error(`${expected.nonce.path} is not a path for a nonce`)
  const channel = await shell.open(SCRIPT_LINE, { stdin: script(expected.nonce.path) })
  const what = 'instead of what it booted'
  const [printed] = await Promise.all(
    [channel.stdout, channel.stderr].map((stream) => limitedText(stream, shell.name, what)),
  ).finally(() => channel.cut())
  await channel.exit
  const values = [...printed!.matchAll(new RegExp(`^${BOOT_MARK} (\\w+) (.*)$`, 'gm'))].map(
    ([, k, v]) => [k!, v!] as const,
  )
  const all = (name: string) => values.filter(([key]) => key === name).map(([, value]) => value)
  const one = (name: string) => all(name)[0]?.trim() ?? ''
  if (one('end') === '') throw new LinkLost(`the answer of ${shell.name} is incomplete`)
  const root = one('root')
  const disks = all('disk')
    .map(parseLsblkPairs)
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
      : `${found === '' ? `there is no ${path}` : `${path} is from another installation`}, so the running system is not the installed one but ${system}`,
})

function hardwareCheck(before: HostIdentity | null, now: HostIdentity): BootCheck[] {
  if (before === null || before.dmiUuid === null || now.dmiUuid === null) return []
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
      return { what: 'kernel arguments', ok, found: `the kernel argument ${argument} is ${ok ? 'present' : 'missing'}` }
    }),
    ...deleteKargs
      .filter((argument) => !appendKargs.includes(argument))
      .map((argument): BootCheck => {
        const ok = !has(argument)
        return {
          what: 'kernel arguments',
          ok,
          found: `the kernel argument ${argument} is ${ok ? 'absent' : 'still present'}`,
        }
      }),
  ]
}

function judged(seen: VerifiedBoot, { ssh, logger }: VerifyBootOptions): VerifiedBoot {
  const wrong = seen.checks.filter(({ ok }) => !ok)
  for (const { ok, found } of seen.checks) logger(ok ? 'info' : 'error', found)
  if (wrong.length === 0) return seen
  throw new BootNotVerified(
    `${ssh.address.host} did not boot the installed system: ${wrong.map(({ found }) => found).join('; ')}`,
    seen.checks,
    { remedy: 'check the boot order of its firmware and its console' },
  )
}

/** Parses a line of lsblk -P: `NAME="sda" TYPE="disk"`. */
const parseLsblkPairs = (line: string): Record<string, string> =>
  Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]))
