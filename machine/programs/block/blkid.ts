import { blockNodes, findBlockNode, flatNodes, type BlockNode } from './block-nodes.js'
import { defineTool, ToolExit } from '../tool.js'

/** Exit code of blkid when it finds nothing about a device. */
const NOTHING_FOUND = 2

const SIGNATURE_USAGES: Readonly<Record<string, string>> = {
  swap: 'other',
  linux_raid_member: 'raid',
  crypto_LUKS: 'crypto',
}

const signatureUsage = (type: string): string => SIGNATURE_USAGES[type] ?? 'filesystem'

/** Tags in the order in which util-linux prints them. */
function tags(node: BlockNode, lowLevel: boolean): [string, string][] {
  const { filesystem, gpt } = node
  const found: [string, string | null | undefined][] = [
    ['LABEL', filesystem?.label],
    ['UUID', filesystem?.uuid],
    ['TYPE', filesystem?.type],
  ]
  if (filesystem && lowLevel) found.push(['USAGE', signatureUsage(filesystem.type)])
  if (node.kind !== 'part' && node.table !== null) found.push(['PTUUID', node.diskGuid], ['PTTYPE', node.table])
  if (gpt && lowLevel) {
    found.push(['PART_ENTRY_SCHEME', 'gpt'], ['PART_ENTRY_NAME', gpt.name], ['PART_ENTRY_UUID', gpt.guid])
    found.push(['PART_ENTRY_TYPE', gpt.type], ['PART_ENTRY_NUMBER', String(node.number)])
    found.push(['PART_ENTRY_OFFSET', String(node.offset / 512)], ['PART_ENTRY_SIZE', String(node.length / 512)])
  } else if (gpt) found.push(['PARTLABEL', gpt.name], ['PARTUUID', gpt.guid])
  return found.flatMap(([name, value]) => (value ? [[name, value]] : []))
}

export const blkid = defineTool(
  'blkid',
  {
    probe: 'p',
    output: 'o=',
    'match-tag': 's=',
    'match-token': 't=',
    'cache-file': 'c=',
    'list-one': 'l',
    label: 'L=',
    uuid: 'U=',
    info: 'i',
    usages: 'u=',
  },
  async ({ inside, stdout, stderr }, options) => {
    const lowLevel = options.has('probe')
    const nodes: BlockNode[] = []
    for (const path of options.rest) {
      const node = await findBlockNode(inside, path)
      if (node) nodes.push(node)
      else if (lowLevel) {
        stderr(`blkid: error: ${path}: No such file or directory\n`)
        throw new ToolExit(NOTHING_FOUND)
      }
    }
    if (options.rest.length === 0) nodes.push(...flatNodes(await blockNodes(inside)))

    const wanted = options.has('label')
      ? `LABEL=${options.value('label')!}`
      : options.has('uuid')
        ? `UUID=${options.value('uuid')!}`
        : options.value('match-token')
    const only = options.values('match-tag')
    const form = options.has('label') || options.has('uuid') ? 'device' : (options.value('output') ?? 'full')
    const blocks = nodes.flatMap((node) => {
      const all = tags(node, lowLevel)
      if (all.length === 0) return []
      if (wanted !== undefined && !all.some(([name, value]) => `${name}=${value}` === wanted)) return []
      const shown = only.length === 0 ? all : all.filter(([name]) => only.includes(name))
      return [format(form, `/dev/${node.name}`, shown)]
    })
    if (blocks.length === 0) throw new ToolExit(NOTHING_FOUND)
    stdout(blocks.join(form === 'export' ? '\n' : ''))
  },
)

function format(form: string, device: string, shown: [string, string][]): string {
  switch (form) {
    case 'export':
      return [`DEVNAME=${device}`, ...shown.map(([name, value]) => `${name}=${value}`)].map((l) => `${l}\n`).join('')
    case 'value':
      return shown.map(([, value]) => `${value}\n`).join('')
    case 'device':
      return `${device}\n`
    case 'udev':
      return shown
        .map(([name, value]) => `${name.startsWith('PART_ENTRY') ? 'ID_' : 'ID_FS_'}${name}=${value}\n`)
        .join('')
    default:
      return `${device}: ${shown.map(([name, value]) => `${name}="${value}"`).join(' ')}\n`
  }
}
