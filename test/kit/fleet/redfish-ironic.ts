import { bytesSource, serveFiles, writeIso } from '../../../base/bytes/index.js'
import {
  createIronicApi,
  openIronic,
  openStore,
  UPSTREAM_CONF,
  type Bmc,
  type ConductorConf,
} from '../../../ironic-mock/index.js'
import { LabClock, Probe, Scope, defined, seededRandom, silent, systemRandom } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient, serveHttp, type NodeRecord } from '../../../base/wire/index.js'
import { slowImage, type SlowImage } from './slow-image.js'

/** Our Ironic as one that is elsewhere: it knows machines by their Redfish alone, and their agents by what these send. */
export interface RedfishIronic extends AsyncDisposable {
  readonly url: string
  readonly client: IronicClient
  slow(image: Buffer): Promise<SlowImage>
}

/** @param speed how many times as fast as on the wall its time passes */
export async function redfishIronic(speed: number, conf: Partial<ConductorConf> = {}): Promise<RedfishIronic> {
  const scope = new Scope()
  const clock = new LabClock({ mode: speed })
  const random = seededRandom(1)
  const probe = new Probe()
  const logger = silent
  const store = scope.use(openStore({ clock }))
  const transport = scope.use(new HttpTransport({ clock }))
  const media = new Map<string, Buffer>()
  const files = scope.use(
    await serveFiles({
      host: '127.0.0.1',
      port: 0,
      clock,
      random: systemRandom,
      logger,
      find: (path) => {
        const iso = media.get(path)
        if (!iso) return undefined
        return {
          source: bytesSource(iso),
          etag: '"1"',
          modified: 0,
          type: 'application/octet-stream',
          close: () => Promise.resolve(),
        }
      },
    }),
  )
  let url = ''
  const ironic = scope.use(
    await openIronic({
      store,
      host: 'elsewhere',
      clock,
      random,
      probe,
      logger,
      conf: { ...UPSTREAM_CONF, ...conf },
      bmcs: (node) =>
        Promise.resolve(
          bmcOf(node, (parameters) => {
            const path = `/${node.uuid}.iso`
            media.set(path, isoWith(parameters))
            return files.url + path
          }),
        ),
      agents: transport,
      findImage: (image) => Promise.resolve({ url: image, format: null, sha256: null }),
      ironicUrl: () => url,
    }),
  )
  const dispatch = createIronicApi({ conductor: ironic.conductor, store, clock, random, logger })
  const api = scope.use(
    await serveHttp({ dispatch, host: '127.0.0.1', port: 0, clock, logger, bodyLimit: 64 * 2 ** 20 }),
  )
  url = api.url
  return {
    url,
    client: new IronicClient({ transport, endpoint: url, clock }),
    slow: (image) => slowImage(image, scope),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

const isoWith = (parameters: Readonly<Record<string, string>>): Buffer => {
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return writeIso(
    {
      vmlinuz: Buffer.from('kernel'),
      initrd: Buffer.from('initramfs'),
      'EFI/BOOT/grub.cfg': Buffer.from(`linux /vmlinuz ${words.join(' ')} --\ninitrd /initrd\n`),
    },
    { label: 'VMEDIA_BOOT_ISO', at: 0 },
  )
}

/** A BMC that is worked as Ironic's hardware type redfish does. */
function bmcOf({ driver_info: info }: NodeRecord, mediumOf: (parameters: Record<string, string>) => string): Bmc {
  const system = `${String(info['redfish_address'])}${String(info['redfish_system_id'])}`
  const account = `${String(info['redfish_username'])}:${String(info['redfish_password'])}`
  const authorization = `Basic ${Buffer.from(account).toString('base64')}`
  const ask = async (method: string, path: string, body?: unknown): Promise<{ PowerState?: string }> => {
    const answer = await fetch(system + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`)
    return text === '' ? {} : (JSON.parse(text) as { PowerState?: string })
  }
  const reset = async (kind: string): Promise<void> => {
    await ask('POST', '/Actions/ComputerSystem.Reset', { ResetType: kind })
  }
  return {
    power: async () => ((await ask('GET', '')).PowerState === 'On' ? 'power on' : 'power off'),
    setPower: (target) =>
      reset(target === 'power on' ? 'On' : target.endsWith('rebooting') ? 'ForceRestart' : 'ForceOff'),
    setBoot: async (source) => {
      if (source.kind !== 'disk' && source.kind !== 'ramdisk') throw new Error(`no boot by ${source.kind} here`)
      const boot =
        source.kind === 'disk'
          ? { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous' }
          : { BootSourceOverrideTarget: 'UefiHttp', HttpBootUri: mediumOf(source.parameters) }
      await ask('PATCH', '', { Boot: { BootSourceOverrideEnabled: 'Once', ...boot } })
    },
  }
}
