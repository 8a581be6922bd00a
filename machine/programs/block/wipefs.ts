import { basename } from 'node:path'
import { alignColumns } from '../../../base/runtime/index.js'
import { findBlockNode, mountPoints, readNode, type BlockNode } from './block-nodes.js'
import { defineTool, ToolFailure } from '../tool.js'

interface DiskSignature {
  type: string
  offset: number
  magic: Buffer
}

/** Magic bytes of the formats that a CoreOS disk may have. */
const FILESYSTEMS: readonly DiskSignature[] = [
  { type: 'linux_raid_member', offset: 0x1000, magic: Buffer.from([0xfc, 0x4e, 0x2b, 0xa9]) },
  { type: 'crypto_LUKS', offset: 0, magic: Buffer.from([0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe]) },
  { type: 'ext', offset: 0x438, magic: Buffer.from([0x53, 0xef]) },
  { type: 'xfs', offset: 0, magic: Buffer.from('XFSB') },
  { type: 'swap', offset: 0xff6, magic: Buffer.from('SWAPSPACE2') },
  { type: 'vfat', offset: 0x52, magic: Buffer.from('FAT32   ') },
  { type: 'vfat', offset: 0x36, magic: Buffer.from('FAT16   ') },
  { type: 'vfat', offset: 0x36, magic: Buffer.from('FAT12   ') },
]
const GPT = Buffer.from('EFI PART')
const BOOT_SIGNATURE = Buffer.from([0x55, 0xaa])

/** Signatures of a disk or partition, in the order in which wipefs erases them. */
async function signatures(node: BlockNode): Promise<DiskSignature[]> {
  const sector = node.device.sectorSize
  const found: DiskSignature[] = []
  const look = async (signature: DiskSignature) => {
    if (signature.offset < 0) return false
    const bytes = await readNode(node, signature.offset, signature.magic.length)
    if (Buffer.compare(bytes, signature.magic) !== 0) return false
    found.push(signature)
    return true
  }
  for (const candidate of FILESYSTEMS)
    await look(candidate.type === 'ext' ? { ...candidate, type: node.filesystem?.type ?? 'ext4' } : candidate)
  const primary = await look({ type: 'gpt', offset: sector, magic: GPT })
  const backup = await look({ type: 'gpt', offset: node.length - sector, magic: GPT })
  const isFat = found.some(({ type }) => type === 'vfat')
  await look({ type: primary || backup ? 'PMBR' : isFat ? 'vfat' : 'dos', offset: 0x1fe, magic: BOOT_SIGNATURE })
  return found
}

const formatHex = (value: number, width: number) => `0x${value.toString(16).padStart(width, '0')}`

/** Lists signatures, or erases them from the disk's bytes with `--all`. */
export const wipefs = defineTool(
  'wipefs',
  { all: 'a', force: 'f', 'no-act': 'n', quiet: 'q', types: 't=', json: 'J', noheadings: 'i' },
  async ({ inside, stdout }, options) => {
    if (options.rest.length === 0) throw new ToolFailure('no device specified')
    const rows: string[][] = []
    for (const path of options.rest) {
      const node = await findBlockNode(inside, path)
      if (!node) throw new ToolFailure(`error: ${path}: probing initialization failed: No such file or directory`)
      const busy = mountPoints(inside, node).length > 0
      if (options.has('all') && busy && !options.has('force'))
        throw new ToolFailure(`error: ${path}: probing initialization failed: Device or resource busy`)
      const wanted = options.value('types')?.split(',')
      const found = (await signatures(node)).filter(({ type }) => !wanted || wanted.includes(type))
      if (!options.has('all')) {
        for (const { type, offset } of found) {
          const own = type === node.filesystem?.type ? node.filesystem : undefined
          const uuid = type === 'gpt' ? node.diskGuid : own?.uuid
          rows.push([basename(path), formatHex(offset, 0), type, uuid ?? '', own?.label ?? ''])
        }
        continue
      }
      for (const { type, offset, magic } of found) {
        if (!options.has('no-act')) await node.device.write(node.offset + offset, Buffer.alloc(magic.length))
        const erased = [...magic].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
        if (!options.has('quiet'))
          stdout(`${path}: ${magic.length} bytes were erased at offset ${formatHex(offset, 8)} (${type}): ${erased}\n`)
      }
      const table = found.some(({ type }) => type === 'gpt' || type === 'PMBR' || type === 'dos')
      if (table && !options.has('quiet')) stdout(`${path}: calling ioctl to re-read partition table: Success\n`)
    }
    if (rows.length > 0) stdout(alignColumns([['DEVICE', 'OFFSET', 'TYPE', 'UUID', 'LABEL'], ...rows]))
  },
)
