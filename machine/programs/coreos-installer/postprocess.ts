import { consoleNote, parseConsole } from '../../../coreos/index.js'
import type { Clock, Random } from '../../../base/runtime/index.js'
import { withBootVolume } from '../../disk/boot-volume.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { asShown, readLayout } from '../../disk/disk-partitions.js'
import type { FileTree } from '../../file-tree.js'
import { editBootEntry } from './boot-entry.js'
import { duringInstall, Failure } from './installer-error.js'
import { grubCommands, setGrubConsole } from './grub.js'
import { checkDigest } from './ignition-config.js'
import { editKargs, setPlatform } from './kargs.js'
import { asMountedBoot, type MountedBoot } from './mounted-boot.js'
import { copyNetwork } from './installer-network.js'
import type { InstallOptions } from './command-line/installer-options.js'
import { readPlatform } from './installer-platforms.js'

const NETWORK_DIR = '/etc/NetworkManager/system-connections/'

export interface PostProcessing {
  device: SimulatedDisk
  /** The device's path on the command line, for messages. */
  devicePath: string
  options: InstallOptions
  ignition: Uint8Array | undefined
  files: FileTree
  clock: Clock
  random: Random
  print: (line: string) => void
}

/** Whether the options change the boot filesystem. */
export function needsPostProcessing(options: InstallOptions, ignition: Uint8Array | undefined): boolean {
  return (
    ignition !== undefined ||
    options.firstbootArgs !== undefined ||
    options.appendKarg.length > 0 ||
    options.deleteKarg.length > 0 ||
    options.platform !== undefined ||
    options.console.length > 0 ||
    options.copyNetwork
  )
}

/** Edits the installed boot filesystem in coreos-installer's order, with its messages. */
export async function postProcess(work: PostProcessing): Promise<void> {
  const { device, devicePath, clock } = work
  const { partitions } = await asShown(device, await readLayout(device))
  if (partitions.length === 0) throw new Failure(`couldn't find any partitions on ${devicePath}`)
  const found = partitions.filter(({ filesystem }) => filesystem?.label === 'boot')
  if (found.length > 1) throw new Failure(`found multiple devices on ${devicePath} with label "boot"`)
  const boot = found[0]
  if (!boot) throw new Failure(`couldn't find boot device for ${devicePath}`)
  await withBootVolume(device, boot.offset, clock, (volume) => edit(asMountedBoot(volume, work.random), work))
  await duringInstall('syncing data to disk', () => device.flush())
}

async function edit(volume: MountedBoot, work: PostProcessing): Promise<void> {
  const { options, ignition, print } = work
  const platform = options.platform === 'metal' ? undefined : options.platform
  const consoles = options.console.map((spec) => parseConsole(spec)!)
  if (ignition)
    await duringInstall('writing Ignition configuration', () => {
      print('Writing Ignition config')
      return writeIgnition(volume, ignition, options.ignitionHash)
    })
  await duringInstall('configuring kernel arguments', async () => {
    if (platform !== undefined) {
      print(`Setting platform to ${platform}`)
      await duringInstall('configuring platform', () => writePlatform(volume, platform, consoles.length > 0))
    }
    if (consoles.length > 0) {
      print('Configuring console settings')
      await duringInstall('configuring console kargs', async () => {
        const metal = await readPlatform(volume, 'metal')
        await editBootEntry(volume, (line) =>
          editKargs(line, { delete: metal.kernelArguments, append: consoles.map(({ karg }) => karg) }),
        )
      })
    }
    const { firstbootArgs, appendKarg, deleteKarg } = options
    if (firstbootArgs !== undefined) {
      print('Writing first-boot kernel arguments')
      await duringInstall('writing firstboot kargs', () => writeFirstbootArgs(volume, firstbootArgs))
    }
    if (appendKarg.length > 0 || deleteKarg.length > 0) {
      print('Modifying kernel arguments')
      const note = consoleNote(appendKarg, { karg: '--append-karg', console: '--console' })
      if (note !== undefined) print(note)
      await duringInstall('modifying kernel arguments', () =>
        editBootEntry(volume, (line) => editKargs(line, { delete: deleteKarg, append: appendKarg })),
      )
    }
  })
  await duringInstall('configuring GRUB', async () => {
    if (consoles.length > 0)
      await duringInstall('configuring GRUB console', () => setGrubConsole(volume, grubCommands(consoles)))
    else if (platform !== undefined)
      await duringInstall('configuring platform GRUB console', () => setGrubPlatform(volume, platform))
  })
  if (options.copyNetwork) await copyNetwork({ volume, folder: options.networkDir ?? NETWORK_DIR, ...work })
}

async function writeIgnition(volume: MountedBoot, bytes: Uint8Array, hash: string | undefined): Promise<void> {
  checkDigest(bytes, hash)
  if (!(await volume.exists('/ignition')))
    await duringInstall('creating Ignition config directory', () => volume.mkdir('/ignition', { mode: 0o700 }))
  await duringInstall(`opening destination Ignition config ${volume.at}/ignition/config.ign`, () =>
    volume.create('/ignition/config.ign', bytes, { mode: 0o600 }),
  )
}

async function writePlatform(volume: MountedBoot, platform: string, hasConsoles: boolean): Promise<void> {
  await editBootEntry(volume, (line) => {
    const changed = setPlatform(line, platform)
    if (changed === undefined) throw new Failure("couldn't locate platform ID")
    return changed
  })
  if (hasConsoles) return
  const chosen = await readPlatform(volume, platform)
  const metal = await readPlatform(volume, 'metal')
  await editBootEntry(volume, (line) =>
    editKargs(line, { delete: metal.kernelArguments, append: chosen.kernelArguments }),
  )
}

async function setGrubPlatform(volume: MountedBoot, platform: string): Promise<void> {
  const chosen = await readPlatform(volume, platform)
  const metal = await readPlatform(volume, 'metal')
  if (chosen.grubCommands.join('\n') !== metal.grubCommands.join('\n'))
    await setGrubConsole(volume, chosen.grubCommands)
}

async function writeFirstbootArgs(volume: MountedBoot, args: string): Promise<void> {
  const path = '/ignition.firstboot'
  const old = await duringInstall(`opening first-boot file ${volume.at}${path}`, () => volume.read(path))
  await volume.write(path, Buffer.concat([old, Buffer.from(`set ignition_network_kcmdline="${args}"\n`)]))
}
