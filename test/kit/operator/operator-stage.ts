import { createHash } from 'node:crypto'
import type { KubeClient, KubeKinds } from '../../../base/kubernetes/index.js'
import type { StagedLab } from '../../../lab/index.js'
import { imageServer } from '../deployed.js'
import { smallImage } from '../images/rehearsal-image.js'
import { operatorCalls, type OperatorCall } from './operator-calls.js'

type Host = KubeKinds['BareMetalHost']
type Status = NonNullable<Host['status']>

/** Record of an operator in a scene, without what differs from run to run. */
export interface OperatorRecord {
  calls: OperatorCall[]
  /** States and errors that the host showed, in order. */
  states: string[]
  /** The objects of the host, at the moments that the scene names. */
  objects: Record<string, unknown>
}

export const NAMESPACE = 'metal3'
const at = { name: 'one', namespace: NAMESPACE }

/** Files that hosts install, by path. */
export async function sceneImages() {
  const small = await smallImage()
  return { '/small.raw': small, '/other.raw': Buffer.concat([small, Buffer.alloc(2 ** 20)]) }
}

export type SceneImages = Awaited<ReturnType<typeof sceneImages>>

/** An Ironic with its machines, as the scenes need it. */
export interface SceneLab extends Pick<StagedLab, 'client' | 'clock' | 'wait'> {
  readonly ironic: Pick<StagedLab['ironic'], 'start' | 'stop'>
}

/** The machine of the host. */
export interface SceneMachine {
  /** Address of its BMC behind the scheme, as in `+http://127.0.0.1:8000/redfish/v1/Systems/1`. */
  readonly address: string
  readonly bootMac: string
}

const LAB_MACHINE: SceneMachine = {
  address: '://10.4.0.1:8000/redfish/v1/Systems/1',
  bootMac: '52:54:00:b0:00:01',
}

interface StageParts {
  lab: SceneLab
  kube: KubeClient
  images: SceneImages
  /** Default: one that a lab makes for the address. */
  machine?: SceneMachine
}

/** The ground on which a scene is played: one host, and the real operator or the actor at work. */
export class OperatorStage implements AsyncDisposable {
  readonly lab: SceneLab
  readonly kube: KubeClient
  readonly #images: SceneImages
  readonly #machine: SceneMachine
  readonly #server: Awaited<ReturnType<typeof imageServer>>
  readonly #closing = new AbortController()
  readonly #watching: Promise<void>
  readonly #calls: OperatorCall[] = []
  readonly #states: string[] = []
  readonly #objects: Record<string, unknown> = {}
  /** The host as it was after each change, from the one that was waited for last. */
  readonly #seen: Host[] = []

  private constructor(parts: StageParts, server: Awaited<ReturnType<typeof imageServer>>) {
    this.lab = parts.lab
    this.kube = parts.kube
    this.#images = parts.images
    this.#machine = parts.machine ?? LAB_MACHINE
    this.#server = server
    this.#watching = this.#watch()
  }

  static async open(parts: StageParts): Promise<OperatorStage> {
    const stage = new OperatorStage(parts, await imageServer(parts.images))
    await stage.secret('bmc', { username: 'admin', password: 'secret' })
    await stage.secret('ignition', { value: '{"ignition":{"version":"3.4.0"}}' })
    return stage
  }

  /** Notes a call of the operator. */
  called = (call: OperatorCall): void => void this.#calls.push(call)

  /** An image of the server, with its checksum. */
  image(path: keyof SceneImages, more: Record<string, unknown> = {}) {
    const checksum = createHash('sha256').update(this.#images[path]).digest('hex')
    return { url: this.#server.url(path), checksum, checksumType: 'sha256', format: 'raw', ...more }
  }

  /** A URL of the server. */
  url = (path: string): string => this.#server.url(path)

  async secret(name: string, stringData: Record<string, string>): Promise<void> {
    const secret = { apiVersion: 'v1', kind: 'Secret' } as const
    const metadata = { name, namespace: NAMESPACE }
    if (await this.kube.find('Secret', metadata)) await this.kube.patch('Secret', metadata, { stringData })
    else await this.kube.create<'Secret'>({ ...secret, metadata, stringData })
  }

  async create(spec: Partial<Host['spec']>, metadata: { annotations?: Record<string, string> } = {}, scheme?: string) {
    const address = `${scheme ?? 'redfish-virtualmedia'}${this.#machine.address}`
    await this.kube.create<'BareMetalHost'>({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { ...at, ...metadata },
      spec: {
        online: true,
        bootMACAddress: this.#machine.bootMac,
        bmc: { address, credentialsName: 'bmc', disableCertificateVerification: true },
        ...spec,
      },
    })
  }

  /** Creates an object of the host's name. */
  async createBeside(
    kind: 'HostUpdatePolicy' | 'DataImage' | 'HostFirmwareSettings' | 'HostFirmwareComponents',
    spec: object,
  ) {
    await this.kube.create({ apiVersion: 'metal3.io/v1alpha1', kind, metadata: at, spec } as never)
  }

  get = (): Promise<Host> => this.kube.get('BareMetalHost', at)
  change = (spec: object) => this.kube.patch('BareMetalHost', at, { spec })
  changeBeside = (kind: 'HostFirmwareSettings' | 'HostFirmwareComponents' | 'DataImage', spec: object) =>
    this.kube.patch(kind, at, { spec })
  annotate = (annotations: Record<string, string | null>) =>
    this.kube.patch('BareMetalHost', at, { metadata: { annotations } })

  async delete(kind: 'BareMetalHost' | 'DataImage' = 'BareMetalHost'): Promise<void> {
    await this.kube.delete(kind, at)
    await this.untilGone(kind)
  }

  untilGone = (kind: 'BareMetalHost' | 'DataImage' = 'BareMetalHost'): Promise<void> =>
    this.#poll(async () => !(await this.kube.find(kind, at)), `the ${kind} is gone`)

  /** Waits until the host shows this, however short; what it showed before the last such wait ended does not count. */
  until(what: string, is: (status: Status, host: Host) => boolean): Promise<void> {
    return this.#poll(async () => {
      const found = this.#seen.findIndex((host) => host.status !== undefined && is(host.status, host))
      if (found < 0) this.#seen.splice(0, this.#seen.length - 1)
      else this.#seen.splice(0, found)
      return found >= 0
    }, what)
  }

  /** Waits for a state without an error, and with the power that is wanted there. */
  settled = (state: Status['provisioning']['state'], isOn = true): Promise<void> =>
    this.until(
      state,
      ({ provisioning, poweredOn, errorType }) =>
        provisioning.state === state && poweredOn === isOn && errorType === undefined,
    )

  failed = (errorType: Status['errorType']): Promise<void> =>
    this.until(`${errorType}`, (status) => status.errorType === errorType)

  /** Waits for a provision state of the node. */
  untilNode = (state: string): Promise<void> =>
    this.#poll(async () => (await this.lab.client.nodes()).some((node) => node.provision_state === state), state)

  pass = (time: number): Promise<void> => this.lab.wait(this.lab.clock.sleep(time))

  async #poll(is: () => Promise<boolean>, what: string): Promise<void> {
    const { clock, wait } = this.lab
    const since = clock.now()
    await wait(
      (async () => {
        while (!(await is())) {
          if (clock.now() - since > 6 * 3600_000)
            throw new Error(`waited for six hours of the lab until ${what}: ${this.#states.slice(-5).join('; ')}`)
          await clock.sleep(1_000)
        }
      })(),
    )
  }

  /**
   * Keeps the host and the objects beside it as they are now. Hardware and settings of firmware are long, and the same in
   * every scene: unless `isWhole`, a digest stands for them.
   */
  async mark(name: string, { isWhole = false } = {}): Promise<void> {
    const kinds = ['HardwareData', 'HostFirmwareSettings', 'HostFirmwareComponents', 'DataImage', 'Secret'] as const
    const found: [string, unknown][] = [['BareMetalHost', await this.get()]]
    for (const kind of kinds)
      found.push([kind, await this.kube.find(kind, kind === 'Secret' ? { ...at, name: 'bmc' } : at)])
    // Its data are the scene's own.
    for (const [, object] of found) if (object) delete (object as { data?: unknown }).data
    const all = this.#plain(Object.fromEntries(found.filter(([, object]) => object !== undefined)))
    this.#objects[name] = isWhole ? all : digested(all)
  }

  async #watch(): Promise<void> {
    for await (const { type, object } of this.kube.watch('BareMetalHost', { signal: this.#closing.signal })) {
      this.#seen.push(object)
      const { provisioning, operationalStatus = '', errorType, errorMessage } = object.status ?? {}
      const error = errorType === undefined ? '' : ` (${errorType}: ${this.#text(errorMessage ?? '')})`
      const line =
        type === 'DELETED' ? 'gone' : `${provisioning?.state || 'new'}, ${operationalStatus || 'unknown'}${error}`
      if (this.#states.at(-1) !== line) this.#states.push(line)
    }
  }

  #text(text: string): string {
    return text
      .replaceAll(this.#server.url(''), 'http://images.test')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
  }

  #plain(value: unknown): unknown {
    return JSON.parse(this.#text(JSON.stringify(value)), (key, inner: unknown) => {
      // Versions count all writes of the API; managers of fields are the API's own affair.
      if (['resourceVersion', 'credentialsVersion'].includes(key)) return 'VERSION'
      return inner
    })
  }

  async record(): Promise<OperatorRecord> {
    this.#closing.abort()
    await this.#watching.catch(() => {})
    const calls = operatorCalls(this.#calls)
    return { calls: this.#plain(calls) as OperatorCall[], states: this.#states, objects: this.#objects }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#watching.catch(() => {})
    await this.#server[Symbol.asyncDispose]()
  }
}

const LONG_LISTS = new Set(['hardware', 'components'])

/** Long members as digests of their values, whose members may be in any order. */
function digested(value: unknown, key = '', parent = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value) && !LONG_LISTS.has(key)) return value.map((inner) => digested(inner))
  if (LONG_LISTS.has(key) || (key === 'settings' && parent === 'status')) {
    const sorted = JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    )
    return `sha256:${createHash('sha256').update(sorted).digest('hex').slice(0, 16)}`
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, digested(inner, name, key)]))
}
