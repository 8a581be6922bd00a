/**
 * Device policy of a command's control group: denies other devices even where the command finds their nodes. `m` (mknod) is
 * allowed for those that it has, since the cell is under the policy before it makes its nodes.
 */
export type DevicePolicyKind =
  /** A scope of the target's systemd. */
  | 'systemd'
  /** The devices controller of control groups, version 1. */
  | 'cgroup-v1'
  /** No policy: only the private /dev of the command. */
  | 'none'

/** Character devices that every program may use: null, zero, full, random, urandom, tty, ptmx and terminals. */
const COMMON_DEVICES = ['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*']

/**
 * Shell functions, the same for every kind. The supervisor calls them from outside of the policy.
 *
 * - `policy_open ACCESS DEVICES`: allows DEVICES, words NAME:MAJOR:MINOR, with ACCESS, `r` or `rw`; fails when the policy
 *   cannot be set. Sets `$policy_words`, lines to put before the command line, and `$policy_group`, a group to join.
 * - `policy_devices ACCESS DEVICES`: replaces the allowed devices.
 * - `policy_character MAJOR:MINOR`: allows one more character device.
 * - `policy_close`: removes the policy.
 */
export function policyFunctions(kind: DevicePolicyKind): string {
  switch (kind) {
    case 'systemd':
      return SYSTEMD
    case 'cgroup-v1':
      return CGROUP_V1
    case 'none':
      return `policy_words= policy_group=
policy_open() { :; }
policy_devices() { :; }
policy_character() { :; }
policy_close() { :; }`
  }
}

/**
 * systemd takes numbers as names below /dev/block and /dev/char. Its closed policy already allows the devices that every
 * program may use.
 */
const SYSTEMD = `policy_group=
policy_unit=ironstage-cell-\${d##*/}.scope
policy_words=
policy_open() {
  # Without a description systemd takes the whole command line, the text that builds the cell too, and logs it.
  policy_words="systemd-run
--quiet
--scope
--collect
--description=command of ironstage, confined
--unit=$policy_unit
--property=DevicePolicy=closed"
  for one in $2; do policy_words="$policy_words
--property=DeviceAllow=/dev/block/\${one#*:} $1m"; done
}
# Called after policy_open, before the command starts.
policy_characters=
policy_character() {
  policy_characters="$policy_characters $1"
  policy_words="$policy_words
--property=DeviceAllow=/dev/char/$1 rwm"
}
# All in one call: systemd applies the list as a whole, so that a device that stays allowed can be opened at any moment. The
# empty entry resets the list: the number of a device that is gone may go to another disk.
policy_devices() {
  policy_access=$1m policy_wanted=$2
  set -- DeviceAllow=
  for one in $policy_wanted; do set -- "$@" "DeviceAllow=/dev/block/\${one#*:} $policy_access"; done
  for one in $policy_characters; do set -- "$@" "DeviceAllow=/dev/char/$one rwm"; done
  systemctl set-property --runtime "$policy_unit" "$@" >/dev/null 2>&1
}
policy_close() { :; }`

/** The policy is on a group and the process in a child group: writes to its own group cannot widen the policy. */
const CGROUP_V1 = `policy_words=
policy_group=
devices_group() (
  at= root=/ own=/
  while read -r a b c r m rest; do
    case $rest in *' - cgroup '*) case ",\${rest##* }," in *,devices,*) at=$m root=$r ;; esac ;; esac
  done </proc/self/mountinfo
  while IFS= read -r line; do
    line=\${line#*:}
    case ",\${line%%:*}," in *,devices,*) own=\${line#*:} ;; esac
  done </proc/self/cgroup
  [ "$root" = / ] || own=\${own#"$root"}
  [ "$own" != / ] || own=
  [ -n "$at" ] && printf '%s\\n' "$at$own"
)
policy_rule() { printf '%s\\n' "$2" >"$policy_group/devices.$1" && printf '%s\\n' "$2" >"$policy_group/command/devices.$1"; }
policy_open() {
  policy_group=$(devices_group) || return 1
  policy_group=$policy_group/ironstage-\${d##*/}
  # Deny all before the child group is made: a group with children refuses that, and the child inherits the policy.
  mkdir "$policy_group" 2>/dev/null && printf 'a\\n' >"$policy_group/devices.deny" && mkdir "$policy_group/command" || return 1
  for one in ${COMMON_DEVICES.join(' ')}; do policy_character "$one" || return 1; done
  policy_had=
  policy_devices "$@"
}
policy_devices() {
  access=$1
  for one in $policy_had; do case " $2 " in *" $one "*) ;; *) policy_rule deny "b \${one#*:} rwm" ;; esac; done
  for one in $2; do policy_rule allow "b \${one#*:} \${access}m" || return 1; done
  policy_had=$2
}
policy_character() { policy_rule allow "c $1 rwm"; }
policy_close() {
  i=0
  while [ -d "$policy_group" ] && [ "$i" -lt 50 ]; do
    rmdir "$policy_group/command" "$policy_group" 2>/dev/null || nap 0.02
    i=$((i + 1))
  done
}`
