import { transportOf } from '../../hardware/disk-transports.js'
import type { DiskSpec } from '../../machine-spec.js'
import { findBlockNode, type BlockNode } from './block-nodes.js'
import type { ProgramMachine, Process } from '../machine-program.js'
import { defineTool, ToolFailure } from '../tool.js'

/** Duration of an erasure that a disk reports; a paced disk also takes it. */
const ERASE_MINUTES = 2

const canErase = (disk: DiskSpec) => disk.secureErase ?? transportOf(disk).canEraseByDefault

async function diskAt(inside: ProgramMachine, path: string | undefined): Promise<BlockNode | undefined> {
  const node = path === undefined ? undefined : await findBlockNode(inside, path)
  return node?.kind === 'disk' ? node : undefined
}

async function eraseAll({ clock, pace, signal }: Process, { device }: BlockNode): Promise<void> {
  if (pace.writeRate > 0) await clock.sleep(ERASE_MINUTES * 60_000, { signal })
  await device.discard(0, device.size)
  await device.flush()
}

/** File with the disk's password of the ATA security feature, which lasts for one boot. */
const passwordFile = (name: string) => `/run/ata-security/${name}`

/** hdparm as far as a secure erase needs it: the security part of `-I`, setting a password, erasing with it. */
export const hdparm = defineTool(
  'hdparm',
  {
    identify: 'I',
    'user-master': '=',
    'security-set-pass': '=',
    'security-erase': '=',
    'security-erase-enhanced': '=',
    'security-disable': '=',
    'security-unlock': '=',
  },
  async (process, options) => {
    const { inside, stdout, stderr } = process
    const path = options.rest[0]
    const node = await diskAt(inside, path)
    if (!node) {
      stderr(`${path ?? ''}: No such file or directory\n`)
      return 2
    }
    const { disk } = node
    const enabled = inside.files.exists(passwordFile(disk.name))
    if (transportOf(disk).erasure !== 'ata security') {
      stderr('HDIO_DRIVE_CMD(identify) failed: Inappropriate ioctl for device\n')
      return 25
    }
    if (options.has('identify')) return stdout(formatHdparmIdentity(disk, path!, enabled))
    const erase = options.value('security-erase') ?? options.value('security-erase-enhanced')
    stdout(`security_password: "${erase ?? options.value('security-set-pass') ?? ''}"\n\n${path!}:\n`)
    if (canErase(disk) !== true) {
      stderr('SG_IO: bad/missing sense data, ATA command aborted\n')
      return 5
    }
    if (options.has('security-set-pass')) inside.files.write(passwordFile(disk.name), new Uint8Array())
    else if (enabled) {
      if (erase !== undefined) await eraseAll(process, node)
      inside.files.remove(passwordFile(disk.name))
    } else if (erase !== undefined) {
      stderr('SG_IO: bad/missing sense data, ATA command aborted\n')
      return 5
    }
    return 0
  },
)

function formatHdparmIdentity(disk: DiskSpec, path: string, enabled: boolean): string {
  const not = (yes: boolean, word: string) => `\t${yes ? '' : 'not'}\t${word}\n`
  const security =
    canErase(disk) === false
      ? ''
      : `Security: \n\tMaster password revision code = 65534\n\t\tsupported\n${not(enabled, 'enabled')}${not(false, 'locked')}` +
        `${not(canErase(disk) === 'frozen', 'frozen')}${not(false, 'expired: security count')}\t\tsupported: enhanced erase\n` +
        `\t${ERASE_MINUTES}min for SECURITY ERASE UNIT. ${ERASE_MINUTES}min for ENHANCED SECURITY ERASE UNIT.\n`
  return `\n${path}:\n\nATA device, with non-removable media\n\tModel Number:       ${disk.model}\n\tSerial Number:      ${disk.serial}\n${security}`
}

/** nvme-cli as far as a secure erase needs it: the controller's capabilities and formatting. */
export const nvme = defineTool(
  'nvme',
  { 'output-format': 'o=', ses: 's=', force: 'f', 'namespace-id': 'n=' },
  async (process, options) => {
    const [verb, path] = options.rest
    const node = await diskAt(process.inside, path)
    if (!node || transportOf(node.disk).erasure !== 'nvme format')
      throw new ToolFailure(`${path ?? ''}: No such file or directory`)
    switch (verb) {
      case 'id-ctrl': {
        // Bit 1 of OACS: Format NVM. Bit 2 of FNA: cryptographic erase.
        const abilities = { oacs: canErase(node.disk) === false ? 0 : 2, fna: 4 }
        process.stdout(`${JSON.stringify({ sn: node.disk.serial, mn: node.disk.model, ...abilities }, null, 2)}\n`)
        return
      }
      case 'format':
        if (canErase(node.disk) !== true) {
          process.stderr(
            'NVMe status: Invalid Command Opcode: A reserved coded value or an unsupported value(0x2001)\n',
          )
          return 1
        }
        await eraseAll(process, node)
        process.stdout('Success formatting namespace:1\n')
        return
      default:
        throw new ToolFailure(`ERROR: Invalid sub-command '${verb ?? ''}'`)
    }
  },
)
