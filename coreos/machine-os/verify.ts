import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorChain, withClockHeld, UserError, type Clock } from '../../base/runtime/index.js'
import { digestOfFile, openFileSource, overlaySource, sha256OfParts, streamSource } from '../../base/bytes/index.js'
import { openLiveIso } from '../live/live-iso.js'
import { pxeFiles } from '../live/pxe-files.js'
import type { StreamMetadata } from '../metadata/stream-metadata.js'
import { liveFiles, type LiveFiles } from '../metadata/stream-lookup.js'
import { isFile } from './copy-iso.js'
import { isGzip, PXE_FILES, unpackKernel } from './copy-pxe.js'
import { OS_VERSIONS, prefixOf, stampOf, type OsVersion } from './image-content.js'
import { ERRORS } from '../errors.js'

/** Result for one file. */
export interface VerifiedFile {
  path: string
  ok: boolean
  /** `as published`, `as published, customised since`, or the difference. */
  what: string
}

export interface VerifyOptions {
  folder: string
  /** Stream metadata of each CoreOS version that may be in the folder. */
  streams: Readonly<Partial<Record<OsVersion, StreamMetadata>>>
  clock: Clock
}

const FILES = { vmlinuz: 'kernel', 'initrd.img': 'initramfs', 'rootfs.img': 'rootfs' } as const

/**
 * Compares every live image of a folder with stream metadata: kernel, initramfs, root filesystem, and ISOs, from which
 * later customizations are removed before the comparison.
 *
 * @throws UserError `machine-os-empty` for a folder without live images; `stream-artifact` for an architecture that the
 *   stream lacks
 */
export async function verifyMachineOs({ folder, streams, clock }: VerifyOptions): Promise<VerifiedFile[]> {
  const verdicts: VerifiedFile[] = []
  for (const version of OS_VERSIONS) {
    const stream = streams[version]
    if (!stream) continue
    for (const architecture of await architecturesIn(folder, version, stream, clock)) {
      const base = join(folder, `${prefixOf(version)}-${architecture}`)
      verdicts.push(...(await verifyOne(base, liveFiles(stream, architecture), clock)))
    }
  }
  if (verdicts.length > 0) return verdicts
  throw new UserError('machine-os-empty', `there is no live image of CoreOS in ${folder}`, {
    remedy: ERRORS['machine-os-empty'].remedy,
    kind: 'usage',
  })
}

async function architecturesIn(
  folder: string,
  version: OsVersion,
  stream: StreamMetadata,
  clock: Clock,
): Promise<string[]> {
  const names = await withClockHeld(clock, `reading ${folder}`, () => readdir(folder))
  const pattern = new RegExp(`^${prefixOf(version)}-([a-z0-9_]+)(\\.iso|-vmlinuz|-initrd\\.img|-rootfs\\.img)$`)
  const found = new Set(names.flatMap((name) => pattern.exec(name)?.[1] ?? []))
  for (const architecture of found) liveFiles(stream, architecture)
  return [...found].sort()
}

async function verifyOne(base: string, live: LiveFiles, clock: Clock): Promise<VerifiedFile[]> {
  const verdicts: VerifiedFile[] = []
  const iso = `${base}.iso`
  if (await isFile(iso, clock))
    verdicts.push(await verifyIso(iso, live, clock), ...(await verifyStamp(`${iso}.sha256`, live, clock)))
  let pxe = false
  for (const name of PXE_FILES) {
    const path = `${base}-${name}`
    if (!(await isFile(path, clock))) continue
    pxe = true
    verdicts.push(await verifyPxe(path, FILES[name], live, verdicts[0]?.ok ? iso : null, clock))
  }
  if (pxe) verdicts.push(...(await verifyStamp(`${base}.pxe.sha256`, live, clock)))
  return verdicts
}

async function verifyStamp(path: string, { iso }: LiveFiles, clock: Clock): Promise<VerifiedFile[]> {
  const found = await stampOf(path, clock)
  if (found === iso.sha256) return []
  const what = found === null ? 'there is no digest in it' : `is of another ISO: expected=${iso.sha256} found=${found}`
  return [{ path, ok: false, what }]
}

async function verifyIso(path: string, { iso }: LiveFiles, clock: Clock): Promise<VerifiedFile> {
  await using file = await openFileSource(path, clock)
  const found = await sha256OfParts(streamSource(file))
  if (found === iso.sha256) return { path, ok: true, what: 'as published' }
  try {
    const live = await openLiveIso(file, clock)
    const reset = await sha256OfParts(streamSource(overlaySource(file, live.pristine())))
    if (reset === iso.sha256) return { path, ok: true, what: 'as published, customised since' }
    return { path, ok: false, what: describeChecksumMismatch(iso.sha256, live.customized ? reset : found) }
  } catch (error) {
    return { path, ok: false, what: `${describeChecksumMismatch(iso.sha256, found)} (${errorChain(error).join(': ')})` }
  }
}

async function verifyPxe(
  path: string,
  kind: 'kernel' | 'initramfs' | 'rootfs',
  live: LiveFiles,
  iso: string | null,
  clock: Clock,
): Promise<VerifiedFile> {
  const expected = live[kind].sha256
  const found = await digestOfFile(path, clock)
  if (found === expected) return { path, ok: true, what: 'as published' }
  // A kernel that was decompressed for Arm machines has no published digest: compare it with the ISO's, decompressed.
  if (kind === 'kernel' && iso !== null && found === (await unpackedKernel(iso, expected, clock)))
    return { path, ok: true, what: 'as published, unpacked' }
  return { path, ok: false, what: describeChecksumMismatch(expected, found) }
}

async function unpackedKernel(iso: string, expected: string, clock: Clock): Promise<string | null> {
  await using file = await openFileSource(iso, clock)
  const { filesystem } = await openLiveIso(file, clock)
  const kernel = (await pxeFiles(filesystem)).find(({ name }) => name === 'vmlinuz')?.contents
  if (!kernel || !(await isGzip(kernel)) || (await sha256OfParts(streamSource(kernel))) !== expected) return null
  return await sha256OfParts(unpackKernel(kernel))
}

const describeChecksumMismatch = (expected: string, found: string): string =>
  `checksum mismatch: expected=${expected} found=${found}`
