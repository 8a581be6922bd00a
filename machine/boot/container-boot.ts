import { sha256Hex } from '../../base/bytes/index.js'
import { isObject } from '../../base/runtime/index.js'
import { sshKeyFingerprint } from '../../ignition/index.js'
import { findConfigDrive, type ConfigDrive } from '../ignition/find-config-drive.js'
import type { FirstBoot } from '../machine.js'
import type { OsDeployment } from '../os/deployments.js'
import { ROOT_KEYS_FILE } from '../os/root-keys-file.js'
import { newFile, parentFolderOf, type RootTree } from '../root/root-tree.js'
import type { Bootable } from './bootable.js'
import { readContainerTree, writeMachineId, type ContainerRoot } from './container-root.js'
import type { DiskBoot, FirstBootParts } from './first-boot.js'

/**
 * The first boot of a system that bootc installed: systemd-tmpfiles makes root's keys, cloud-init, where the image has it,
 * takes the host name of a config drive, and systemd writes the id of the machine, so that the next boot is none.
 *
 * @param persist called with the report before the id is written, so that a crash cannot lose the report
 */
export async function containerFirstBoot(
  { device, container, kernelArguments, title }: Bootable & { container: ContainerRoot },
  { system, disks, clock, bootId }: FirstBootParts,
  persist: (report: FirstBoot) => Promise<void>,
): Promise<DiskBoot> {
  const tree = await readContainerTree(device, container, clock)
  const { checksum, version, image } = container
  const booted: OsDeployment = { checksum, version, image, files: [] }
  system.begin()
  const log = (from: string, message: string) => system.print({ at: clock.now(), from, priority: 'info', message })
  log('systemd[1]', `Detected first boot of ${title}`)
  log('ostree-prepare-root[412]', `deployment ${checksum} of ${image}`)
  const keys = makeRootKeys(tree)
  const drive = await findConfigDrive(disks.values())
  const applied = drive && hasCloudInit(tree) ? applyConfigDrive(tree, drive) : []
  if (drive) log('cloud-init[812]', `config drive at ${drive.path}${applied.length > 0 ? '' : ', which is not read'}`)
  const id = sha256Hex(bootId).slice(0, 32)
  putText(tree, '/etc/machine-id', `${id}\n`, 0o444)
  const nothing = { ignitionVersion: null, configDigest: null, configMode: null, failure: null, failedStage: null }
  const report: FirstBoot = {
    ...nothing,
    hostname: tree.text('/etc/hostname').trim() || null,
    users: keys.length > 0 ? [{ name: 'root', sshKeyFingerprints: keys.map(fingerprint) }] : [],
    files: applied,
    units: [],
    kernelArguments,
    disk: `/dev/${device.name}`,
    fetched: [],
    plannedDiskChanges: [],
    container: { image, configDrive: drive?.path ?? null },
  }
  system.keepTree(device.name, 'fcos', tree)
  system.keepOs({ booted, staged: null, rollback: null, pivot: null, layers: [] })
  await persist(report)
  await writeMachineId(device, container, id, clock)
  await device.flush()
  return 'up'
}

const fingerprint = (key: string): string => sshKeyFingerprint(key) ?? 'unreadable key'

/** systemd-tmpfiles: `f~ PATH MODE USER GROUP AGE BASE64`. */
function makeRootKeys(tree: RootTree): string[] {
  const [, path, base64] = /^f~ (\/\S+) 600 root root - (\S+)$/m.exec(tree.text(ROOT_KEYS_FILE)) ?? []
  if (path === undefined || base64 === undefined) return []
  const keys = Buffer.from(base64, 'base64').toString()
  tree.mkdirs(parentFolderOf(path), 0o700)
  tree.put(path, newFile(Buffer.from(keys), { mode: 0o600 }))
  return keys.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

const hasCloudInit = (tree: RootTree): boolean => tree.exists('/usr/bin/cloud-init')

/** @returns the files that were written */
function applyConfigDrive(tree: RootTree, { metaData, userData }: ConfigDrive): string[] {
  const instance = '/var/lib/cloud/instance'
  const written: string[] = []
  const write = (path: string, bytes: Uint8Array, mode: number) => {
    tree.mkdirs(parentFolderOf(path))
    tree.put(path, newFile(bytes, { mode }))
    written.push(path)
  }
  const name = hostNameIn(metaData)
  if (name !== null) write('/etc/hostname', Buffer.from(`${name}\n`), 0o644)
  if (metaData) write(`${instance}/meta-data.json`, metaData, 0o600)
  if (userData) write(`${instance}/user-data.txt`, userData, 0o600)
  return written
}

/** cloud-init takes `local-hostname`, then `hostname`, then `name`. */
function hostNameIn(metaData: Uint8Array | null): string | null {
  if (!metaData) return null
  try {
    const value: unknown = JSON.parse(Buffer.from(metaData).toString())
    const { hostname, name, ...more } = isObject(value) ? value : {}
    const found = [more['local-hostname'], hostname, name].find((one) => typeof one === 'string' && one !== '')
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}

function putText(tree: RootTree, path: string, text: string, mode: number): void {
  tree.mkdirs(parentFolderOf(path))
  tree.put(path, newFile(Buffer.from(text), { mode }))
}
