import {
  bootsIso,
  type Bmc,
  type BmcHardware,
  type BmcRequest,
  type BootMedia,
  type BootSource,
} from '../../../ironic-mock/index.js'
import { publishBootScript, type ScriptedNode } from '../../images/boot-script.js'
import { bootDeviceOf, probedBmcCall, throughProbe, type BmcCaller } from '../probed-bmc.js'
import { setBootOverride, type BootOverride } from './redfish-boot.js'
import { changeByRedfish } from './redfish-changes.js'
import { indicatorsOf, indicatorState } from './redfish-indicators.js'
import { textIn, textsIn } from './redfish-json.js'
import { isInserted, mediaDrives } from './redfish-media.js'
import { setSystemPower } from './redfish-power.js'
import { hardwareReport, systemReport } from './redfish-report.js'
import { subscribeTo, subscriptionsOf, unsubscribeFrom } from './redfish-subscriptions.js'
import { powerIn, type RedfishSystem } from './redfish-system.js'

export interface RedfishBmcOptions extends BmcCaller, ScriptedNode {
  /** Reads the node's `driver_info`, and is called for each call: a wrong one is an error of the call. */
  readonly system: () => Promise<RedfishSystem>
}

/** A machine elsewhere, which is reached over the network as Ironic's hardware type redfish reaches one. */
export class RedfishBmc implements Bmc {
  readonly #options: RedfishBmcOptions
  readonly hardware: BmcHardware

  constructor(options: RedfishBmcOptions) {
    this.#options = options
    this.hardware = throughProbe(redfishHardware(options.system), (request, work) => this.#call(request, work))
  }

  power(): ReturnType<Bmc['power']> {
    return this.#call({ call: 'read power' }, async () => {
      const system = await this.#options.system()
      return powerIn(await system.read()) ?? 'error'
    })
  }

  setPower(target: Parameters<Bmc['setPower']>[0]): Promise<void> {
    return this.#call({ call: 'set power', target }, async () => setSystemPower(await this.#options.system(), target))
  }

  async setBoot(source: BootSource, media?: BootMedia): Promise<void> {
    const image = this.#imageOf(source)
    const insert = media && (media.insert ?? image)
    if (media && media.eject.length > 0) await this.hardware.change({ change: 'eject media', devices: media.eject })
    if (insert !== undefined) await this.hardware.change({ change: 'insert media', device: 'cdrom', url: insert })
    await this.#call({ call: 'set boot', target: bootDeviceOf(source) }, async () =>
      setBootOverride(await this.#options.system(), this.#overrideOf(source, { image, hasMedia: media !== undefined })),
    )
  }

  /** The ISO of a boot, which this Ironic makes of a kernel and its initramfs. */
  #imageOf(source: BootSource): string | undefined {
    const { record, files } = this.#options
    if (source.kind === 'iso') return source.url
    if (source.kind === 'live' && 'iso' in source.image) return source.image.iso
    if (!bootsIso(record)) return undefined
    if (source.kind === 'pxe') return files.publishIso(record.uuid, source.append)
    if (source.kind === 'ramdisk') return files.publishIso(record.uuid, kernelWords(source.parameters))
    return source.kind === 'live' ? files.publishIso(record.uuid, '') : undefined
  }

  #overrideOf(source: BootSource, { image, hasMedia }: { image: string | undefined; hasMedia: boolean }): BootOverride {
    const isPersistent = source.kind === 'disk' || source.kind === 'live'
    if (source.kind === 'cdrom') return { target: 'Cd', isPersistent: false }
    if (source.kind !== 'disk' && image !== undefined)
      return hasMedia ? { target: 'Cd', isPersistent } : { target: 'UefiHttp', isPersistent, url: image }
    if (!bootsIso(this.#options.record)) publishBootScript(this.#options, source)
    return { target: source.kind === 'disk' ? 'Hdd' : 'Pxe', isPersistent }
  }

  #call<T>(request: BmcRequest, work: () => Promise<T>): Promise<T> {
    return probedBmcCall(this.#options, request, work)
  }
}

const kernelWords = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

/** Firmware and BMC of a machine behind its Redfish service. */
function redfishHardware(open: () => Promise<RedfishSystem>): BmcHardware {
  return {
    report: async () => hardwareReport(await open()),
    system: async () => systemReport(await open()),
    change: async (change) => changeByRedfish(await open(), change),
    media: async () =>
      (await mediaDrives(await open())).map((drive) => ({
        media_types: textsIn(drive.document, 'MediaTypes') ?? [],
        inserted: isInserted(drive),
        image: textIn(drive.document, 'Image') ?? null,
      })),
    indicators: async () => indicatorsOf(await open()),
    indicator: async (component, name) => indicatorState(await open(), component, name),
    subscribe: async (wanted) => subscribeTo(await open(), wanted),
    unsubscribe: async (id) => unsubscribeFrom(await open(), id),
    subscriptions: async () => subscriptionsOf(await open()),
  }
}
