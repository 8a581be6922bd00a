import { UserError, userError, type Logger } from '../../base/runtime/index.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { policyFunctions, type DevicePolicyKind } from './device-policy.js'
import { findFiltering, type SyscallFiltering } from './filter-loader.js'

/** The kernel's means that confine commands on a target. */
export interface Confinement {
  devices: DevicePolicyKind
  /** Null where no program of the target loads a filter: then services of the target are only covered up by name. */
  filtering: SyscallFiltering | null
}

/** Text for a report. */
export function describeConfinement(confinement: Confinement | null): string {
  if (confinement === null) return 'none: only the command lines are checked'
  const { devices, filtering } = confinement
  const services =
    filtering === null
      ? 'system calls are not filtered, so services of the machine can be reached'
      : `system calls by a filter that ${filtering.loader} loads`
  return `namespaces and capabilities; devices by ${POLICIES[devices]}; ${services}`
}

const POLICIES: Record<DevicePolicyKind, string> = {
  systemd: 'a scope of systemd with a closed device policy',
  'cgroup-v1': 'the devices controller of its control group',
  none: 'a private /dev alone',
}

export interface FindConfinementOptions {
  host: SupervisedExecutor
  /** Name of the target, for messages. */
  name: string
  /** True if commands may run unconfined; `never` if no option allows it. */
  unguarded: boolean | 'never'
  logger: Logger
}

/**
 * Tries the ways of a target to confine commands, strongest first. One counts only after it kept a device from being
 * opened.
 *
 * @returns null when the target cannot confine commands and `unguarded` is true
 * @throws UserError when the target cannot confine commands and `unguarded` is not true
 */
export async function findConfinement(options: FindConfinementOptions): Promise<Confinement | null> {
  const { host, name, unguarded, logger } = options
  const lines = await host.lines(FIND_SCRIPT)
  const why = lines.find(({ tag }) => tag === 'w')?.text
  const devices = lines.find(({ tag }) => tag === 'c')?.text
  if (devices !== undefined) {
    const machine = lines.find(({ tag }) => tag === 'm')?.text ?? ''
    const filtering = await findFiltering(host, machine)
    const confinement = { devices: devices as DevicePolicyKind, filtering }
    logger('info', `commands on ${name} are confined: ${describeConfinement(confinement)}`)
    return confinement
  }
  if (unguarded !== true)
    throw new UserError('unguarded', `${name} cannot confine commands to the named disk: ${why}`, {
      remedy: `work as root on a Linux with namespaces and util-linux; ${
        unguarded === 'never'
          ? 'the built-in installer writes a disk only in a cell, but a plain file anywhere: ironstage coreos-installer install FILE'
          : 'or use --allow unguarded: then only the command lines are checked'
      }`,
    })
  logger('warn', `commands on ${name} run unconfined (--allow unguarded): ${why}`)
  return null
}

/** Confinement of a target, and why commands would not run there. */
export interface ForeseenConfinement {
  confinement: Confinement | null
  refusal: UserError | null
}

/** {@link findConfinement}; for a target that is only read, the refusal of later commands is a result. */
export async function foreseeConfinement(
  options: FindConfinementOptions,
  readOnly: boolean,
): Promise<ForeseenConfinement> {
  try {
    return { confinement: await findConfinement(options), refusal: null }
  } catch (error) {
    const refusal = userError(error)
    if (!readOnly || refusal?.code !== 'unguarded') throw error
    return { confinement: null, refusal }
  }
}

/** Devices that every Linux has and that every policy denies. */
const DENIED_DEVICES = '/dev/kmsg /dev/loop-control'

/**
 * Shell functions: `opens DEVICE...` succeeds when one of the devices can be opened, `systemd_denies DEVICE...` when one
 * can be opened, and none in a scope of systemd with a closed policy.
 */
export const PROBE_FUNCTIONS = `
opens() { for n; do ! (exec 3<"$n") 2>/dev/null || return 0; done; return 1; }
systemd_denies() {
  opens "$@" || return 1
  # A status of its own: systemd-run that fails ends with 1, and a shell whose redirection fails with 1 or 2.
  systemd-run --quiet --scope --collect --unit="ironstage-probe-$$" --property=DevicePolicy=closed \\
    sh -c 'exec 3</dev/null || exit 0; for n; do ! (exec 3<"$n") || exit 0; done; exit 77' probe "$@" >/dev/null 2>&1
  [ "$?" = 77 ]
}
`

/** Prints `c KIND` and `m PROCESSOR`, or `w WHY` when the target cannot confine commands. */
const FIND_SCRIPT = `${PROBE_FUNCTIONS}nap() { sleep "$1" 2>/dev/null || sleep 1; }
refused() { printf 'w %s\\n' "$1"; printf 'k\\n'; exit 0; }
[ "$(id -u)" = 0 ] || refused 'commands do not run as root there'
for program in unshare setpriv mount pivot_root mknod; do command -v "$program" >/dev/null 2>&1 || refused "there is no $program"; done
why=$(unshare --mount --pid --fork --kill-child --ipc --uts unshare --cgroup --net setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all,+kill true 2>&1) ||
  refused "its kernel makes no namespaces (\${why##*: })"
d=$base/probe-$$
kind=none
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; then
  ! systemd_denies ${DENIED_DEVICES} || kind=systemd
fi
if [ "$kind" = none ]; then
  ${policyFunctions('cgroup-v1')}
  if group=$(devices_group) && [ -w "$group/devices.deny" ]; then
    # Remove groups of killed supervisors.
    find "$group" -maxdepth 1 -name 'ironstage-*' -mmin +1 2>/dev/null | while read -r old; do rmdir "$old/command"; rmdir "$old"; done 2>/dev/null
    if policy_open r '' 2>/dev/null; then
      ! opens ${DENIED_DEVICES} || (echo 0 >"$policy_group/command/cgroup.procs" && opens ${DENIED_DEVICES}) || kind=cgroup-v1
      policy_close
    fi
  fi
fi
printf 'c %s\\nm %s\\n' "$kind" "$(uname -m)"`
