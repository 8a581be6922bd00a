import { findBlockNode } from '../block/block-nodes.js'
import type { EfiEntry, ProgramMachine } from '../machine-program.js'
import { defineTool, ToolExit, ToolFailure } from '../tool.js'

/** Exit code of efibootmgr for a variable that it cannot change. */
const VARIABLE_FAILED = 5

/** The table as efibootmgr 18 prints it: device paths always, after a tab. */
function formatBootTable({ efi }: ProgramMachine): string {
  const entries = [...efi.entries].sort((a, b) => a.number.localeCompare(b.number))
  return [
    ...(efi.current === null ? [] : [`BootCurrent: ${efi.current}`]),
    'Timeout: 0 seconds',
    ...(efi.order.length === 0
      ? ['No BootOrder is set; firmware will attempt recovery']
      : [`BootOrder: ${efi.order.join(',')}`]),
    ...entries.map(({ number, active, label, path }) => `Boot${number}${active ? '*' : ' '} ${label}\t${path}`),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** The entry of a number, hex of any length: `1` is `0001`. */
function findBootEntry({ efi }: ProgramMachine, text: string | undefined): EfiEntry {
  const number = (text ?? '').toUpperCase().padStart(4, '0')
  const entry = efi.entries.find((candidate) => candidate.number === number)
  if (entry) return entry
  throw new ToolFailure(`Boot entry ${text ?? '(none)'} not found`, VARIABLE_FAILED)
}

async function makeEfiEntry(
  inside: ProgramMachine,
  options: { disk: string; part: number; label: string; loader: string },
): Promise<EfiEntry> {
  const disk = await findBlockNode(inside, options.disk)
  const partition =
    disk && 'partitions' in disk ? disk.partitions.find(({ number }) => number === options.part) : undefined
  if (!disk || !partition?.gpt)
    throw new ToolFailure('Could not prepare Boot variable: No such file or directory', VARIABLE_FAILED)
  const sector = disk.device.sectorSize
  const hex = (bytes: number) => `0x${(bytes / sector).toString(16)}`
  const where = `HD(${options.part},GPT,${partition.gpt.guid},${hex(partition.offset)},${hex(partition.length)})`
  return {
    number: freeNumber(inside),
    label: options.label,
    active: true,
    path: `${where}/File(${options.loader.replaceAll('/', '\\')})`,
  }
}

function freeNumber({ efi }: ProgramMachine): string {
  for (let number = 0; ; number++) {
    const name = number.toString(16).toUpperCase().padStart(4, '0')
    if (!efi.entries.some((entry) => entry.number === name)) return name
  }
}

export const efibootmgr = defineTool(
  'efibootmgr',
  {
    active: 'a',
    inactive: 'A',
    bootnum: 'b=',
    'delete-bootnum': 'B',
    create: 'c',
    'create-only': 'C',
    disk: 'd=',
    label: 'L=',
    loader: 'l=',
    bootorder: 'o=',
    'delete-bootorder': 'O',
    part: 'p=',
    quiet: 'q',
    verbose: 'v',
    'write-signature': 'w',
    'remove-dups': 'D',
  },
  async ({ inside, stdout, stderr }, options) => {
    const { efi } = inside
    if (inside.spec.firmware === 'bios') {
      stderr('EFI variables are not supported on this system.\n')
      throw new ToolExit(2)
    }
    if (options.has('delete-bootnum')) {
      const { number } = findBootEntry(inside, options.value('bootnum'))
      efi.entries = efi.entries.filter((entry) => entry.number !== number)
      efi.order = efi.order.filter((entry) => entry !== number)
    } else if (options.has('active') || options.has('inactive'))
      findBootEntry(inside, options.value('bootnum')).active = options.has('active')
    if (options.has('delete-bootorder')) efi.order = []
    if (options.has('bootorder'))
      efi.order = options
        .value('bootorder')!
        .split(',')
        .map((number) => findBootEntry(inside, number).number)
    if (options.has('create') || options.has('create-only')) {
      const label = options.value('label') ?? 'Linux'
      const twin = efi.entries.find((entry) => entry.label === label)
      if (twin) stderr(`efibootmgr: ** Warning ** : Boot${twin.number} has same label ${label}\n`)
      const entry = await makeEfiEntry(inside, {
        disk: options.value('disk') ?? '/dev/sda',
        part: Number(options.value('part') ?? 1),
        label,
        loader: options.value('loader') ?? '\\EFI\\fedora\\grubx64.efi',
      })
      efi.entries.push(entry)
      if (options.has('create')) efi.order.unshift(entry.number)
    }
    await inside.persist()
    if (!options.has('quiet')) stdout(formatBootTable(inside))
  },
)
