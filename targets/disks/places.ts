/**
 * Shell functions that find a disk by its place: its name below /dev/disk/by-path. A place says nothing about which disk is
 * plugged in there, so what is known of the disk is compared at every look.
 *
 * They expect those of `DISK_FUNCTIONS`.
 *
 * - `choose_place PLACE FACTS` sets `$chosen`; refuses another disk than that with the facts, unless these are empty.
 * - `still_placed PLACE FACTS DISK` succeeds while the disk is that at the place.
 * - `facts_of DISK` prints what tells a disk from others: number, sectors, sequence number, model, serial number.
 * - `list_disks` prints `a NAME SECTORS MODEL`, followed by `s IDENTITY`, `j PLACE` and `q WHY-IN-USE` for each disk.
 */
export const PLACE_FUNCTIONS = `
bus_of() ( at=$(cd -P "$1/subsystem" 2>/dev/null && pwd) && printf '%s\\n' "\${at##*/}" )
# Prints the highest folder above and with $1 that is on the bus $2, as one goes up without leaving it.
top_of_bus() (
  at=$1
  while [ "$(bus_of "\${at%/*}")" = "$2" ]; do at=\${at%/*}; done
  printf '%s\\n' "$at"
)
# Prints the number of a SCSI host among those of its controller: host7 is 0 when it is the first one there.
host_index() (
  least=
  for h in "\${1%/*}"/host[0-9]*; do
    [ -d "$h" ] || continue
    n=\${h##*/host}
    [ -n "$least" ] && [ "$least" -le "$n" ] || least=$n
  done
  n=\${1##*/host}
  printf '%s\\n' "$((n - \${least:-$n}))"
)
# Prints the names of a SCSI disk below its controller, each before the folder to go on from; nothing for a transport whose
# names sysfs does not show.
scsi_places() (
  case $1 in */rport-* | */end_device-* | */session* | */vmbus_*) exit ;; esac
  address=\${1##*/}
  host=$1
  while :; do
    host=\${host%/*}
    case \${host##*/} in host[0-9]*) break ;; '') exit ;; esac
  done
  case $host in
    */ata[0-9]*/*)
      port=\${host%/*}
      read -r n 2>/dev/null <"$port/ata_port/\${port##*/}/port_no" || exit
      lun=\${address#*:} bus=\${lun%%:*} lun=\${lun#*:} target=\${lun%%:*}
      if [ "$bus" != 0 ]; then printf 'ata-%s.%s.0 %s\\n' "$n" "$bus" "$port"
      else printf 'ata-%s.%s %s\\n' "$n" "$target" "$port"; fi
      printf 'ata-%s %s\\n' "$n" "$port"
      ;;
    *) printf 'scsi-%s:%s %s\\n' "$(host_index "$host")" "\${address#*:}" "$host" ;;
  esac
)
# Prints the place of a device up to the root of sysfs: climb FOLDER END KNOWN LASTS. As in udev, a place needs a parent
# with a name that lasts, and a transport that is known.
climb() (
  at=$1 end=$2 known=$3 lasts=$4
  while [ "$at" != "$sys" ] && [ -n "$at" ]; do
    name=\${at##*/} bus=$(bus_of "$at")
    case $bus in
      pci | xen | acpi | scm | ccw) lasts=1 ;;
      platform | amba) lasts=1 known=1 ;;
      virtio) known=1 name= ;;
      *) name= ;;
    esac
    [ -z "$name" ] || end=$bus-$name\${end:+-$end}
    case $bus in
      pci | xen | acpi | scm | ccw | platform | amba | virtio) at=$(top_of_bus "$at" "$bus") ;;
    esac
    at=\${at%/*}
  done
  [ -z "$known" ] || [ -z "$lasts" ] || printf '%s\\n' "$end"
)
# Prints the names that udev gives a disk below /dev/disk/by-path, as far as sysfs alone shows them.
places_of() (
  at=$(cd -P "$sys/class/block/$1/device" 2>/dev/null && pwd) || exit 0
  case $(bus_of "$at") in
    scsi) scsi_places "$at" | while read -r end from; do climb "\${from%/*}" "$end" 1 ''; done ;;
    nvme)
      read -r n 2>/dev/null <"$sys/class/block/$1/nsid" || exit 0
      at=$(top_of_bus "$at" nvme)
      climb "\${at%/*}" "nvme-$n" 1 1
      ;;
    usb) ;;
    *) climb "$at" '' '' '' ;;
  esac | sed -e p -e '/^pci-[^-]*$/!d' -e 's/^/virtio-/'
)
facts_of() (
  s=$sys/class/block/$1
  read -r sequence 2>/dev/null <"$s/diskseq" || sequence=-
  read -r sectors 2>/dev/null <"$s/size" || sectors=-
  facts="$(number "$1") $sectors $sequence"
  for f in device/model serial device/serial wwid; do
    line=
    read -r line 2>/dev/null <"$s/$f"
    facts=$facts\${line:+ $line}
  done
  printf '%s\\n' "$facts"
)
# Prints the disk that is at a place: at_place PLACE [DISK]. DISK limits the search to that disk. A link of udev that leads
# to a disk at another place is printed as !DISK.
at_place() (
  linked=
  n=$(node "$dev/disk/by-path/$1") && linked=$(kernel_name "$n")
  for s in "$sys"/block/\${2:-*}; do
    k=\${s##*/}
    case $k in loop* | ram* | zram* | sr* | fd* | dm-* | md*) continue ;; esac
    places=$(places_of "$k")
    if printf '%s\\n' "$places" | grep -Fxq -e "$1"; then printf '%s\\n' "$k"
    elif [ "$k" != "$linked" ]; then :
    elif [ -n "$places" ]; then printf '!%s\\n' "$k"
    else printf '%s\\n' "$k"; fi
  done
)
choose_place() {
  found=$(at_place "$1")
  set -- "$1" "$2" $found
  case $#-$* in
    2-*) offer_disks; refuse "there is no disk at /dev/disk/by-path/$1" ;;
    *' !'*) refuse "/dev/disk/by-path/$1 leads to a disk that is plugged in elsewhere: $(echo $found)" ;;
    3-*) chosen=$3 ;;
    *) refuse "more than one disk is at /dev/disk/by-path/$1: $(echo $found)" ;;
  esac
  [ -z "$2" ] || [ "$(facts_of "$chosen")" = "$2" ] ||
    refuse "another disk is at /dev/disk/by-path/$1 now: $chosen ($(facts_of "$chosen")) instead of ($2)"
}
still_placed() { [ "$(at_place "$1" "$3")" = "$3" ] && [ "$(facts_of "$3")" = "$2" ]; }
list_disks() (
  for s in "$sys"/block/*; do
    k=\${s##*/}
    case $k in loop* | ram* | zram* | sr* | fd* | dm-* | md*) continue ;; esac
    read -r sectors 2>/dev/null <"$s/size" || continue
    [ "$sectors" != 0 ] || continue
    printf 'a %s %s %s\\n' "$k" "$sectors" "$(cat "$s/device/model" 2>/dev/null)"
    identities "$k" | sed 's/^/s /'
    { places_of "$k"; for l in "$dev"/disk/by-path/*; do
      case $l in *-part[0-9]*) continue ;; esac
      n=$(node "$l") && [ "$(kernel_name "$n")" = "$k" ] && printf '%s\\n' "\${l##*/}"
    done; } | sort -u | grep -v '^virtio-' | sed 's/^/j /'
    why=$(in_use "$k" none)
    [ -z "$why" ] || printf 'q %s\\n' "$why"
  done
)
`
