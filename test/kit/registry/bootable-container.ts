import { storeLayers, type TestLayer } from './images.js'
import type { RegistryServerHandle } from './registry-server.js'

/** Files of a container that bootc can install: those that its installation reads, and a few of a system. */
export const BOOTABLE_FILES: Readonly<Record<string, string>> = {
  'usr/bin/bootc': '#!bootc',
  'usr/bin/cloud-init': '#!cloud-init',
  'usr/lib/bootc/install/00-fedora.toml': '[install.filesystem.root]\ntype = "xfs"\n',
  'usr/lib/modules/6.14.0-63.fc42.x86_64/vmlinuz': 'kernel',
  'usr/lib/modules/6.14.0-63.fc42.x86_64/initramfs.img': 'initramfs',
  'usr/lib/os-release': 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\nPRETTY_NAME="Fedora Linux 42"\n',
  'etc/motd': 'from the base\n',
  'etc/gone': 'hidden by a layer above\n',
  'var/lib/app/state': 'state\n',
}

/** A layer that a user adds to it. */
export const USER_LAYER: TestLayer = { files: { 'etc/motd': 'from the user\n', 'etc/.wh.gone': '', 'opt/app': 'app' } }

interface BootableOptions {
  files?: Record<string, string>
  without?: string[]
  tag?: string
  architecture?: string
}

/** Puts a container that bootc can install into a registry, and returns its digest. */
export const putBootable = (
  registry: RegistryServerHandle,
  name: string,
  { files = {}, without = [], tag = 'latest', architecture }: BootableOptions = {},
): string => {
  const all = Object.entries({ ...BOOTABLE_FILES, ...files }).filter(([path]) => !without.includes(path))
  return storeLayers(registry, name, tag, [{ files: Object.fromEntries(all) }, USER_LAYER], architecture)
}
