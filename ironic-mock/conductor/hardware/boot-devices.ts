import { IronicError, ironicErrors, type NodeRecord } from '../../../base/wire/index.js'
import { bmcErrorText } from '../../drivers/bmc-error-text.js'
import type { Bmcs } from '../../drivers/bmc.js'
import type { BootDevice } from '../../drivers/hardware-type.js'
import { checkBootDevice, fixedAnswers, supportedBootDevices } from '../../drivers/management.js'
import { remembersPower } from '../../drivers/remembered-power.js'
import type { StoreView } from '../../store/open-store.js'
import { checkUnlocked, type Admin } from '../records/node-admin.js'
import type { ConductorConf } from '../core/conductor-conf.js'

interface BootDeviceParts {
  store: StoreView
  conf: ConductorConf
  bmcs: Bmcs
}

/**
 * Boot devices that clients request; deployment sets its own. Disk and CD are set on the machine at once, other devices
 * are only stored, since Ironic chooses the boot source when it boots a ramdisk.
 */
export class BootDevices {
  readonly #options: BootDeviceParts
  readonly #admin: Admin

  constructor(options: BootDeviceParts, admin: Admin) {
    this.#options = options
    this.#admin = admin
  }

  async supported(uuid: string): Promise<string[]> {
    return [...supportedBootDevices(this.#node(uuid))]
  }

  async get(uuid: string): Promise<{ boot_device: string | null; persistent: boolean | null }> {
    const node = this.#node(uuid)
    const stored = node.driver_internal_info.boot_device as BootDevice | undefined
    return fixedAnswers(node)?.bootDevice ?? stored ?? { boot_device: null, persistent: null }
  }

  async set(uuid: string, device: string, persistent: boolean): Promise<void> {
    const { store, conf, bmcs } = this.#options
    const node = this.#node(uuid)
    checkUnlocked(node)
    checkBootDevice(node, device)
    if ((device === 'disk' || device === 'cdrom') && !remembersPower(node, conf))
      try {
        await this.#admin.whileReserved(uuid, async () => {
          await (await bmcs(node, store.records.portsOf(uuid))).setBoot({ kind: device })
        })
      } catch (error) {
        if (error instanceof IronicError) throw error
        throw new IronicError(502, bmcErrorText(node, error))
      }
    if (fixedAnswers(node)) return
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
