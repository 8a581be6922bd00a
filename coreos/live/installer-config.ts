import { parse } from 'yaml'
import { readNested } from '../../base/runtime/index.js'
import { LiveImageError } from '../live-image-error.js'

/** Fields of coreos-installer's config file, in the order in which coreos-installer writes them. */
const INSTALLER_FIELDS = {
  stream: 'text',
  'image-url': 'text',
  'image-file': 'text',
  'ignition-file': 'text',
  'ignition-url': 'text',
  'ignition-hash': 'text',
  architecture: 'text',
  platform: 'text',
  console: 'list',
  'append-karg': 'list',
  'delete-karg': 'list',
  'copy-network': 'flag',
  'network-dir': 'text',
  'save-partlabel': 'list',
  'save-partindex': 'list',
  offline: 'flag',
  insecure: 'flag',
  'insecure-ignition': 'flag',
  'stream-base-url': 'text',
  'preserve-on-error': 'flag',
  'fetch-retries': 'text',
  'secure-ipl': 'flag',
  'dest-device': 'text',
} as const

const EXPECTED = { text: 'a string', list: 'a sequence', flag: 'a boolean' } as const

/** @throws LiveImageError for a file that the installer would refuse, before a machine boots with it */
export function checkInstallerConfig(text: string): void {
  let value: unknown
  try {
    value = readNested(text, 'the config file', (each) => parse(each, { schema: 'core', uniqueKeys: true }) as unknown)
  } catch (error) {
    throw new LiveImageError((error instanceof Error ? error.message : String(error)).split('\n')[0]!)
  }
  if (value === null || value === undefined) return
  if (typeof value !== 'object' || Array.isArray(value))
    throw new LiveImageError('invalid type, expected struct InstallConfig')
  for (const [key, setting] of Object.entries(value as Record<string, unknown>)) {
    const kind = Object.hasOwn(INSTALLER_FIELDS, key)
      ? INSTALLER_FIELDS[key as keyof typeof INSTALLER_FIELDS]
      : undefined
    if (!kind) {
      const known = Object.keys(INSTALLER_FIELDS).map((name) => `\`${name}\``)
      throw new LiveImageError(`unknown field \`${key}\`, expected one of ${known.join(', ')}`)
    }
    if (!fitsConfigField(kind, setting)) throw new LiveImageError(`${key}: invalid type, expected ${EXPECTED[kind]}`)
  }
}

function fitsConfigField(kind: 'text' | 'list' | 'flag', setting: unknown): boolean {
  switch (kind) {
    case 'text':
      return setting === null || ['string', 'number', 'boolean'].includes(typeof setting)
    case 'list':
      return Array.isArray(setting) && setting.every((item) => fitsConfigField('text', item))
    case 'flag':
      return typeof setting === 'boolean'
  }
}
