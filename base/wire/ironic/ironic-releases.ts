import { MAX_MICROVERSION, type Microversion } from './microversion.js'

/**
 * The newest microversion of each release: named ones, the two between them that Metal3 has images of, and master (ironic 39.0.0 common/release_mappings.py RELEASE_MAPPING).
 *
 * @example
 * import { createLab, IRONIC_RELEASES, type IronicRelease } from 'ironstage'
 *
 * for (const release of Object.keys(IRONIC_RELEASES) as IronicRelease[]) {
 *   await using lab = await createLab({ ironic: { release } })
 * }
 */
export const IRONIC_RELEASES = {
  '2024.2': 93,
  '2025.1': 96,
  '2025.2': 101,
  '2026.1': 111,
  '37.0': 112,
  '38.0': 113,
  master: MAX_MICROVERSION,
} as const satisfies Record<string, Microversion>

/** A release of Ironic that the mock can be. */
export type IronicRelease = keyof typeof IRONIC_RELEASES
