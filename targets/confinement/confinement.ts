import { UserError, type Logger } from '../../runtime/index.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { policyFunctions, type DevicePolicyKind } from './device-policy.js'

/** What confines the commands on a target. */
export interface Confinement {
  devices: DevicePolicyKind
}

/** For people, in a report. */
export function describeConfinement(confinement: Confinement | null): string {
  if (confinement === null) return 'none: commands are only judged by their words'
  return `namespaces and capabilities; devices by ${POLICIES[confinement.devices]}`
}

const POLICIES: Record<DevicePolicyKind, string> = {
  systemd: 'a scope of systemd with a closed device policy',
  'cgroup-v1': 'the devices controller of its control group',
  none: 'a /dev of their own alone',
}

export interface FindConfinementOptions {
  host: SupervisedExecutor
  /** For messages. */
  name: string
  /** Whether commands may run that nothing confines. */
  unguarded: boolean
  logger: Logger
}

/**
 * Tries what there is on a target to confine commands with, strongest first. Each is believed only once a device could
 * not be opened through it.
 *
 * @returns null where nothing confines, and that was allowed
 * @throws UserError when nothing can confine commands there, and that was not allowed
 */
export async function findConfinement(options: FindConfinementOptions): Promise<Confinement | null> {
  const { host, name, unguarded, logger } = options
  const lines = await host.lines(PROBE)
  const why = lines.find(({ letter }) => letter === 'w')?.text
  const devices = lines.find(({ letter }) => letter === 'c')?.text
  if (devices !== undefined) {
    const confinement = { devices: devices as DevicePolicyKind }
    logger('info', `commands on ${name} are confined: ${describeConfinement(confinement)}`)
    return confinement
  }
  if (!unguarded)
    throw new UserError('unguarded', `nothing on ${name} keeps a command to the disk that was named: ${why}`, {
      remedy:
        'work as root on a Linux with namespaces and util-linux; or say --allow unguarded, and commands are only judged by their words',
    })
  logger('warn', `commands on ${name} are not confined, as was allowed: ${why}`)
  return null
}

/** Opens a device that every Linux has and that no policy lets through. */
const OPENS = `(exec 3</dev/kmsg) 2>/dev/null || (exec 3</dev/loop-control) 2>/dev/null`

/** Says `c KIND`, or `w WHY` when there is nothing. */
const PROBE = `
nap() { sleep "$1" 2>/dev/null || sleep 1; }
refused() { printf 'w %s\\n' "$1"; printf 'k\\n'; exit 0; }
[ "$(id -u)" = 0 ] || refused 'it is not worked on as root'
for program in unshare setpriv mount pivot_root mknod; do command -v "$program" >/dev/null 2>&1 || refused "there is no $program"; done
why=$(unshare --mount --pid --fork --kill-child --ipc --uts unshare --cgroup --net setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all,+kill true 2>&1) ||
  refused "it makes no namespaces (\${why##*: })"
d=$base/probe-$$
kind=none
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; then
  systemd-run --quiet --scope --collect --unit="ironstage-probe-$$" --property=DevicePolicy=closed sh -c ${"'exec 3</dev/null || exit 0; " + OPENS.replaceAll("'", '') + "'"} >/dev/null 2>&1
  # Opened, or no scope could be made.
  [ "$?" != 1 ] || ! { ${OPENS}; } || kind=systemd
fi
if [ "$kind" = none ]; then
  ${policyFunctions('cgroup-v1')}
  if group=$(devices_group) && [ -w "$group/devices.deny" ]; then
    # What supervisors left behind that were killed.
    find "$group" -maxdepth 1 -name 'ironstage-*' -mmin +1 2>/dev/null | while read -r old; do rmdir "$old/command"; rmdir "$old"; done 2>/dev/null
    if policy_open r '' 2>/dev/null; then
      ! { ${OPENS}; } || (echo 0 >"$policy_group/command/cgroup.procs" && { ${OPENS}; }) || kind=cgroup-v1
      policy_close
    fi
  fi
fi
printf 'c %s\\n' "$kind"`
