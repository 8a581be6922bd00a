import type { BootVolume } from '../../disk/boot-volume.js'
import { duringInstall } from './installer-error.js'
import { parseSerdeJson } from './serde-json.js'

/** Settings of one platform in /coreos/platforms.json of an image. */
export interface PlatformSettings {
  kernelArguments: string[]
  grubCommands: string[]
}

const PLATFORMS_PATH = '/coreos/platforms.json'

/** A platform's settings; empty when the image has no table or lacks the platform. */
export async function readPlatform(volume: BootVolume, name: string): Promise<PlatformSettings> {
  if (!(await volume.exists(PLATFORMS_PATH))) return { kernelArguments: [], grubCommands: [] }
  const bytes = await volume.read(PLATFORMS_PATH)
  const table = await duringInstall('parsing platform table', () => parseSerdeJson(bytes.toString()))
  const entry = property(table, name)
  return {
    kernelArguments: strings(property(entry, 'kernel_arguments')),
    grubCommands: strings(property(entry, 'grub_commands')),
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
