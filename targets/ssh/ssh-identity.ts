import { UserError } from '../../base/runtime/index.js'

/** Identity of a machine and of its boot; null for values that cannot be read. */
export interface HostIdentity {
  /** Machine id of the system; a live image generates one at every boot. */
  machineId: string | null
  /** UUID of the hardware, which only root may read. */
  dmiUuid: string | null
  bootId: string | null
  hostname: string | null
  uid: number
}

/** Line that runs {@link IDENTITY_SCRIPT} from its input. Every shell has `exec`. */
export const SCRIPT_LINE = 'exec /bin/sh'

const IDENTITY_MARK = 'ironstage-identity'

/** One compound command, so that an incomplete script runs nothing. */
export const IDENTITY_SCRIPT = Buffer.from(`{
exec </dev/null
PATH=$PATH:/usr/bin:/bin
say() { printf '\\n${IDENTITY_MARK} %s %s\\n' "$1" "$2"; }
say machine "$(cat /etc/machine-id 2>/dev/null)"
say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say dmi "$(cat /sys/class/dmi/id/product_uuid 2>/dev/null)"
say host "$(uname -n)"
say uid "$(id -u)"
exit 0
}
`)

/** Parses the script's output between that of login scripts; null when the script did not run to its end. */
export function readIdentity(printed: string): HostIdentity | null {
  const values = new Map(
    [...printed.matchAll(new RegExp(`^${IDENTITY_MARK} (\\w+) (.*)$`, 'gm'))].map(([, k, v]) => [k!, v!]),
  )
  const uid = values.get('uid')
  if (uid === undefined || !/^\d+$/.test(uid)) return null
  const word = (name: string) => values.get(name)?.trim().toLowerCase() || null
  const dmi = word('dmi')
  return {
    machineId: word('machine'),
    // Boards without a UUID have all zeros or all ones.
    dmiUuid: dmi !== null && /^(0|f|-)+$/.test(dmi) ? null : dmi,
    bootId: word('boot'),
    hostname: word('host'),
    uid: Number(uid),
  }
}

/**
 * Compares the machine that answers now with the one before. The same hardware may run another system, as after an
 * installation; the same system on other hardware is a copy.
 */
export function compareIdentities(before: HostIdentity, now: HostIdentity): 'same' | 'rebooted' | 'other' | 'unclear' {
  const [hardware, system, boot] = (['dmiUuid', 'machineId', 'bootId'] as const).map((name) =>
    before[name] === null || now[name] === null ? null : before[name] === now[name],
  )
  if (hardware === false) return 'other'
  const known = boot === true ? 'same' : 'rebooted'
  if (system === true) return known
  // A system does not change within one boot: this is another container on the same kernel.
  if (system === false) return boot === true ? 'other' : hardware === true ? 'rebooted' : 'other'
  if (hardware === true) return known
  return boot === true ? 'same' : 'unclear'
}

/** Error: another machine than before answers at an address, or cannot be shown to be the same. */
export function otherHost(
  name: string,
  before: HostIdentity,
  now: HostIdentity,
  verdict: 'other' | 'unclear',
): UserError {
  const was = `machine id ${before.machineId ?? 'unknown'}, hardware ${before.dmiUuid ?? 'unknown'}`
  const is = `machine id ${now.machineId ?? 'unknown'}, hardware ${now.dmiUuid ?? 'unknown'}`
  return verdict === 'other'
    ? new UserError('ssh-other-host', `another machine answers as ${name}: it has ${is}; it was ${was}`, {
        remedy: 'find out which machine has the address now; nothing was done on it',
      })
    : new UserError(
        'ssh-other-host',
        `the machine that answers as ${name} cannot be shown to be the one from before (${was})`,
        {
          remedy: 'it shows neither a machine id nor, to root, a hardware id; nothing was done on it',
        },
      )
}
