import { defined } from '../../base/runtime/index.js'
import type { BmcDialect, DialectMedia, DialectSlot } from '../../bmc/dialects/index.js'
import {
  dumpedSlots,
  lastPartOf,
  linkAt,
  objectAt,
  pathKey,
  textAt,
  textsAt,
  type DumpedDocument,
  type DumpedResource,
  type DumpedSlots,
  type DumpedSystem,
  type RedfishDump,
} from '../../bmc/dumps/index.js'

type SlotDrive = 'cdrom' | 'floppy' | 'disk'

const INSERT = '#VirtualMedia.InsertMedia'
const EJECT = '#VirtualMedia.EjectMedia'

/** Properties of an image that a BMC may ask for. */
const ASKED = ['Inserted', 'WriteProtected', 'TransferMethod', 'TransferProtocolType', 'UserName', 'Password']

/** The slots of a dump, and how they take images. */
export function derivedMedia(dump: RedfishDump, machine: DumpedSystem, base: BmcDialect): Partial<DialectMedia> {
  const found = dumpedSlots(dump, machine)
  const all = found.flatMap(({ slots }) => slots)
  // An older Supermicro has no slots to be seen, and takes an image by CfgCD.
  if (all.length === 0 && base.media.insertBy === 'config') return {}
  const insertBy = insertedBy(all, base)
  const required = requiredOf(dump, all)
  return {
    slots: mergedSlots(found.flatMap((each) => slotsOf(each, base, insertBy))),
    systemLink: systemLinkOf(found, machine),
    insertBy,
    ...defined({
      required,
      // The base may refuse a property that this BMC requires.
      refused: required && base.media.refused.filter((name) => !required.includes(name)),
      emptyImage: emptyImageOf(all),
      actionsFollowState: all.length === 0 ? undefined : followsState(all),
    }),
  }
}

const actionsOf = (document: DumpedDocument): readonly string[] =>
  Object.keys(objectAt(document, 'Actions') ?? {}).filter((name) => name === INSERT || name === EJECT)

/** True where an empty slot lists one action, as it would not of a slot that takes no images. */
const followsState = (slots: readonly DumpedResource[]): boolean =>
  slots.every(({ document }) => {
    const [only, ...others] = actionsOf(document)
    return only !== undefined && others.length === 0 && (only === EJECT) === (document['Inserted'] === true)
  })

function insertedBy(slots: readonly DumpedResource[], base: BmcDialect): DialectMedia['insertBy'] {
  if (slots.length === 0) return base.media.insertBy
  const allows = slots.some(({ headers }) => /\bPATCH\b/i.test(headers['allow'] ?? ''))
  const hasActions = slots.some(({ document }) => actionsOf(document).length > 0)
  if (!hasActions) return 'patch'
  return allows && base.media.insertBy === 'both' ? 'both' : 'action'
}

function slotsOf({ folder, slots }: DumpedSlots, base: BmcDialect, insertBy: DialectMedia['insertBy']): DialectSlot[] {
  const taken = new Set<SlotDrive>()
  const states = followsState(slots)
  return slots.map(({ path, document }) => {
    const id = lastPartOf(path)
    const types = textsAt(document, 'MediaTypes') ?? []
    const refuses = insertBy !== 'patch' && !states && !actionsOf(document).includes(INSERT)
    const known = base.media.slots.find((each) => each.id === id && each.below.includes(folder))
    const drive = refuses ? null : known ? known.drive : freeDrive(types, taken)
    if (drive !== null) taken.add(drive)
    return { id, name: textAt(document, 'Name') ?? id, drive, types, below: [folder] }
  })
}

/** A drive of the machine for a slot: the CD for the first that takes CDs, as clients choose it. */
function freeDrive(types: readonly string[], taken: ReadonlySet<SlotDrive>): SlotDrive | null {
  const has = (...wanted: readonly string[]) => types.some((type) => wanted.includes(type))
  const fitting: SlotDrive[] = []
  if (has('CD', 'DVD') || types.length === 0) fitting.push('cdrom')
  if (has('USBStick') || has('CD', 'DVD')) fitting.push('disk')
  if (has('Floppy') || has('CD', 'DVD')) fitting.push('floppy')
  return fitting.find((drive) => !taken.has(drive)) ?? null
}

/** The same slot in both folders is one. */
function mergedSlots(slots: readonly DialectSlot[]): DialectSlot[] {
  const merged: DialectSlot[] = []
  for (const slot of slots) {
    const index = merged.findIndex(({ id, drive }) => id === slot.id && drive === slot.drive)
    const other = merged[index]
    if (other) merged[index] = { ...other, below: [...other.below, ...slot.below] }
    else merged.push(slot)
  }
  return merged
}

function systemLinkOf(found: readonly DumpedSlots[], { system }: DumpedSystem): DialectMedia['systemLink'] {
  const link = linkAt(system.document, 'VirtualMedia')
  if (link === undefined) return 'absent'
  const own = found.find(({ folder }) => folder === 'Systems')
  return own && pathKey(own.collection) === pathKey(link) ? 'own' : 'manager'
}

/** Parameters that a resource with the action's values calls required. */
function requiredOf(dump: RedfishDump, slots: readonly DumpedResource[]): readonly string[] | undefined {
  for (const { document } of slots) {
    const info = dump.document(linkAt(document, 'Actions', INSERT, '@Redfish.ActionInfo'))
    const parameters: readonly unknown[] = Array.isArray(info?.['Parameters']) ? info['Parameters'] : []
    if (parameters.length === 0) continue
    return parameters.flatMap((each) => {
      const plain = objectAt({ each }, 'each')
      const name = textAt(plain, 'Name') ?? ''
      return plain?.['Required'] === true && ASKED.includes(name) ? [name] : []
    })
  }
  return undefined
}

function emptyImageOf(slots: readonly DumpedResource[]): DialectMedia['emptyImage'] | undefined {
  const empty = slots.find(({ document }) => document['Inserted'] !== true)
  if (!empty) return undefined
  if (!('Image' in empty.document)) return 'absent'
  return empty.document['Image'] === '' ? '' : null
}
