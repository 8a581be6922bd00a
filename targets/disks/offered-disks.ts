import { sizeText, UserError } from '../../base/runtime/index.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import type { TaggedLine } from '../supervised/tagged-lines.js'
import { factsScript, offerScript } from './guard-script.js'
import { describeSelector, type DiskSelector, type PlaceSelector } from './selector.js'

/** A disk of the target, with what can name it. */
interface OfferedDisk {
  name: string
  bytes: number
  model: string
  identities: string[]
  places: string[]
  inUse: string | null
}

/** Names of each kind that are shown of a disk. */
const MAX_SHOWN_NAMES = 2

/**
 * Reads the answer of a script that looks for disks.
 *
 * @throws UserError `no-disk` when it has found none, with the disks that there are
 */
export function refuseMissing(lines: readonly TaggedLine[], target: string, disks: readonly DiskSelector[]): void {
  const wrong = lines.find(({ tag }) => tag === 'w')
  if (!wrong) return
  const named = `nothing was written; the disk was named as ${disks.map(describeSelector).join(', ')}`
  const offered = offeredText(lines)
  throw new UserError('no-disk', `${target}: ${wrong.text}`, {
    remedy: offered === null ? named : `${named}; ${offered}`,
  })
}

/**
 * Looks at the disk that is at a place, and keeps what it is, so that every later look notices another disk there. Any other
 * selector is returned as it is.
 *
 * @param target name of the target, for messages
 * @throws UserError `no-disk` when there is none, or one of another size
 */
export async function heldSelector(
  host: SupervisedExecutor,
  selector: DiskSelector,
  target: string,
): Promise<DiskSelector> {
  if (selector.kind !== 'place') return selector
  const lines = await host.lines(factsScript(selector))
  refuseMissing(lines, target, [selector])
  const facts = lines.find(({ tag }) => tag === 'f')?.text ?? ''
  refuseOtherSize(selector, facts, target)
  return { ...selector, facts }
}

/** The disks of a target as a part of a sentence; null where there are none. */
export async function offeredDisks(host: SupervisedExecutor): Promise<string | null> {
  return offeredText(await host.lines(offerScript))
}

const MIB = 2 ** 20

function refuseOtherSize({ place, size }: PlaceSelector, facts: string, target: string): void {
  const [, sectors = ''] = facts.split(' ')
  const bytes = Number(sectors) * 512
  if (size === null || Math.floor(bytes / MIB) === Math.floor(size / MIB)) return
  throw new UserError(
    'no-disk',
    `${target}: the disk at /dev/disk/by-path/${place} has ${bytes} bytes (${sizeText(bytes)}) instead of ${sizeText(size)}`,
    { remedy: 'nothing was written; find out which disk is plugged in there, or correct the size' },
  )
}

function offeredText(lines: readonly TaggedLine[]): string | null {
  const disks: OfferedDisk[] = []
  for (const { tag, text } of lines) {
    const last = disks.at(-1)
    if (tag === 'a') disks.push(offeredDisk(text))
    else if (tag === 's') last?.identities.push(text)
    else if (tag === 'j') last?.places.push(`/dev/disk/by-path/${text}`)
    else if (tag === 'q' && last) last.inUse = text
  }
  return disks.length === 0 ? null : `the disks there: ${disks.map(diskText).join('; ')}`
}

function offeredDisk(text: string): OfferedDisk {
  const [, name = '', sectors = '', model = ''] = /^(\S+) (\d+) ?(.*)$/.exec(text) ?? []
  return { name, bytes: Number(sectors) * 512, model: model.trim(), identities: [], places: [], inUse: null }
}

function diskText({ name, bytes, model, identities, places, inUse }: OfferedDisk): string {
  const what = `/dev/${name} (${[sizeText(bytes), model].filter(Boolean).join(', ')})`
  const shown = [...new Set(identities)].slice(0, MAX_SHOWN_NAMES)
  const names = shown.length > 0 ? shown : places.slice(0, MAX_SHOWN_NAMES)
  const named = names.length === 0 ? `${what} has no name that lasts` : `${what} is ${names.join(' or ')}`
  return inUse === null ? named : `${named}, and in use: ${inUse}`
}
