import { IronicError, ironicErrors, type NodeRecord } from '../../../wire/index.js'
import { bmcErrorText } from '../../drivers/bmc-error-text.js'
import type { Bmcs } from '../../drivers/bmc.js'
import { supportedBootDevices } from '../../drivers/management.js'
import { remembersPower } from '../../drivers/remembered-power.js'
import type { StoreView } from '../../store/open-store.js'
import { checkUnlocked, type Admin } from '../records/node-admin.js'
import type { ConductorConf } from '../core/conductor-conf.js'

interface Parts {
  store: StoreView
  conf: ConductorConf
  bmcs: Bmcs
}

/**
 * Boot devices that clients request; deployment sets its own. Disk and CD are set on the machine at once, other devices
 * are only stored, since Ironic chooses the boot source when it boots a ramdisk.
 */
export class BootDevices {
  readonly #options: Parts
  readonly #admin: Admin

  constructor(options: Parts, admin: Admin) {
    this.#options = options
    this.#admin = admin
  }

  async supported(uuid: string): Promise<string[]> {
    return [...supportedBootDevices(this.#node(uuid))]
  }

  async get(uuid: string): Promise<{ boot_device: string | null; persistent: boolean | null }> {
    const node = this.#node(uuid)
    const stored = node.driver_internal_info.boot_device as { boot_device: string; persistent: boolean } | undefined
    // The fake interface always answers this (recorded).
    if (node.management_interface === 'fake') return { boot_device: 'pxe', persistent: false }
    // With noop the operator has configured the firmware to boot from the network first.
    if (node.management_interface === 'noop') return { boot_device: 'pxe', persistent: true }
    return stored ?? { boot_device: null, persistent: null }
  }

  async set(uuid: string, device: string, persistent: boolean): Promise<void> {
    const { store, conf, bmcs } = this.#options
    const node = this.#node(uuid)
    checkUnlocked(node)
    const supported = supportedBootDevices(node)
    const listed = node.management_interface === 'noop' ? `, supported are ${supported.join(', ')}` : ''
    if (!supported.includes(device)) throw new IronicError(400, `Invalid boot device ${device} specified${listed}.`)
    if ((device === 'disk' || device === 'cdrom') && !remembersPower(node, conf))
      try {
        await (await bmcs(node, store.records.portsOf(uuid))).setBoot({ kind: device })
      } catch (error) {
        throw new IronicError(502, bmcErrorText(node, error))
      }
    if (['fake', 'noop'].includes(node.management_interface)) return
    await this.#admin.updateNode(uuid, ({ driver_internal_info }) => ({
      driver_internal_info: { ...driver_internal_info, boot_device: { boot_device: device, persistent } },
    }))
  }

  #node(uuid: string): Readonly<NodeRecord> {
    const entry = this.#options.store.records.nodes.get(uuid)
    if (!entry) throw ironicErrors.nodeNotFound(uuid)
    return entry.record
  }
}
