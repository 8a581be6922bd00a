import { withClockHeld } from '../../base/runtime/index.js'
import { blkid } from './block/blkid.js'
import { dd } from './block/dd.js'
import { efibootmgr } from './system/efibootmgr.js'
import { blkdiscard, shred } from './block/erase.js'
import { fio, gpuBurn, stressNg } from './system/burn-in-programs.js'
import { cat, chmod, ls, mkdir, readlink, rm, sha256sum, stat, tee, test } from './files/file-programs.js'
import { dmidecode, lscpu, lshw } from './system/hardware-programs.js'
import { lsblk } from './block/lsblk.js'
import { mdadm } from './block/mdadm.js'
import { blockdev, mount, partprobe, partx, umount } from './files/mount.js'
import { ethtool, ip, ipmitool } from './network/network-programs.js'
import type { MachineProgram } from './machine-program.js'
import { hdparm, nvme } from './block/hdparm-nvme.js'
import { sgdisk } from './block/sgdisk.js'
import {
  echo,
  eject,
  fail,
  hostname,
  hostnamectl,
  journalctl,
  poweroff,
  reboot,
  sleep,
  succeed,
  sync,
  systemctl,
  uname,
} from './system/system-programs.js'
import { tcpdump } from './network/tcpdump.js'
import { udevadm } from './system/udevadm.js'
import { wipefs } from './block/wipefs.js'

/** coreos-installer, loaded on first use, since an idle machine needs neither its decompressors nor its HTTP client. */
const lazyCoreosInstaller: MachineProgram = async (process) => {
  const program = await withClockHeld(process.clock, 'loading coreos-installer', () => {
    return import('./coreos-installer/coreos-installer.js')
  })
  return program.coreosInstallerProgram(process)
}

/** podman, loaded on first use: few machines pull an image. */
const lazyPodman: MachineProgram = async (process) => {
  const program = await withClockHeld(process.clock, 'loading podman', () => import('./podman/podman.js'))
  return program.podman(process)
}

/** Programs on the PATH of the live ramdisk, by name. */
export const installedPrograms: ReadonlyMap<string, MachineProgram> = new Map<string, MachineProgram>([
  ['[', test],
  ['blkdiscard', blkdiscard],
  ['blkid', blkid],
  ['blockdev', blockdev],
  ['cat', cat],
  ['chmod', chmod],
  ['coreos-installer', lazyCoreosInstaller],
  ['dd', dd],
  ['dmidecode', dmidecode],
  ['echo', echo],
  ['efibootmgr', efibootmgr],
  ['eject', eject],
  ['ethtool', ethtool],
  ['false', fail],
  ['fio', fio],
  ['gpu-burn', gpuBurn],
  ['hdparm', hdparm],
  ['hostname', hostname],
  ['hostnamectl', hostnamectl],
  ['ip', ip],
  ['ipmitool', ipmitool],
  ['journalctl', journalctl],
  ['ls', ls],
  ['lsblk', lsblk],
  ['lscpu', lscpu],
  ['lshw', lshw],
  ['mdadm', mdadm],
  ['mkdir', mkdir],
  ['mount', mount],
  ['nvme', nvme],
  ['partprobe', partprobe],
  ['partx', partx],
  ['podman', lazyPodman],
  ['poweroff', poweroff],
  ['readlink', readlink],
  ['reboot', reboot],
  ['rm', rm],
  ['sgdisk', sgdisk],
  ['sha256sum', sha256sum],
  ['shred', shred],
  ['sleep', sleep],
  ['stat', stat],
  ['stress-ng', stressNg],
  ['sync', sync],
  ['systemctl', systemctl],
  ['tcpdump', tcpdump],
  ['tee', tee],
  ['test', test],
  ['true', succeed],
  ['udevadm', udevadm],
  ['umount', umount],
  ['uname', uname],
  ['wipefs', wipefs],
])

/** Names of those programs. */
export const INSTALLED_PROGRAMS: readonly string[] = [...installedPrograms.keys()]
