import { UserError } from '../../runtime/index.js'

/** Which machine this is, and which of its boots; null where it does not say. */
export interface HostIdentity {
  /** Of the installed system; a live image makes itself one at every boot. */
  machineId: string | null
  /** Of the hardware. Only root may read it. */
  dmiUuid: string | null
  bootId: string | null
  hostname: string | null
  uid: number
}

/** The line that {@link IDENTITY_SCRIPT} is sent to. Every shell has `exec`. */
export const SCRIPT_LINE = 'exec /bin/sh'

const MARK = 'ironstage-identity'

/** One compound command, so that a part of it does nothing. */
export const IDENTITY_SCRIPT = Buffer.from(`{
exec </dev/null
PATH=$PATH:/usr/bin:/bin
say() { printf '\\n${MARK} %s %s\\n' "$1" "$2"; }
say machine "$(cat /etc/machine-id 2>/dev/null)"
say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say dmi "$(cat /sys/class/dmi/id/product_uuid 2>/dev/null)"
say host "$(uname -n)"
say uid "$(id -u)"
exit 0
}
`)

/** Of what the script printed, whatever login scripts put around it; null when it did not run to its end. */
export function readIdentity(printed: string): HostIdentity | null {
  const said = new Map([...printed.matchAll(new RegExp(`^${MARK} (\\w+) (.*)$`, 'gm'))].map(([, k, v]) => [k!, v!]))
  const uid = said.get('uid')
  if (uid === undefined || !/^\d+$/.test(uid)) return null
  const word = (name: string) => said.get(name)?.trim().toLowerCase() || null
  const dmi = word('dmi')
  return {
    machineId: word('machine'),
    // Boards whose makers gave them none all have the same.
    dmiUuid: dmi !== null && /^(0|f|-)+$/.test(dmi) ? null : dmi,
    bootId: word('boot'),
    hostname: word('host'),
    uid: Number(uid),
  }
}

/**
 * Whether what answers now is the machine that answered before. Hardware that is the same may run another system, as
 * when it boots what was installed; a system that is the same on other hardware is a copy.
 */
export function compareIdentities(before: HostIdentity, now: HostIdentity): 'same' | 'rebooted' | 'other' | 'unclear' {
  const [hardware, system, boot] = (['dmiUuid', 'machineId', 'bootId'] as const).map((name) =>
    before[name] === null || now[name] === null ? null : before[name] === now[name],
  )
  if (hardware === false) return 'other'
  const known = boot === true ? 'same' : 'rebooted'
  if (system === true) return known
  // In one boot a system does not change: this is another one on the same kernel.
  if (system === false) return boot === true ? 'other' : hardware === true ? 'rebooted' : 'other'
  if (hardware === true) return known
  return boot === true ? 'same' : 'unclear'
}

/** What answers at an address is another machine than before, or cannot be shown to be the same. */
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
        `what answers as ${name} cannot be shown to be the machine that it was (${was})`,
        {
          remedy: 'it tells neither a machine id nor, to root, a hardware id; nothing was done on it',
        },
      )
}
