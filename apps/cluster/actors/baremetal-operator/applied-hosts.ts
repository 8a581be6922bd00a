import { defined, errorChain, sharedAbort } from '../../../../base/runtime/index.js'
import type { BareMetalHostManifest, IronicEndpoint, SecretManifest, WantedHost } from '../../../../metal3/index.js'
import { isSameJson } from '../../kube/kube-json.js'
import { apiVersionOf, type KubeKind, type KubeKinds } from '../../kube/kinds.js'
import type { BareMetalHost, BareMetalHostStatus } from '../../kube/kinds/metal3-kinds.js'
import type { NewObject } from '../../kube/object.js'
import { isRefusal } from '../../kube/kube-refusal.js'
import type { ActorParts } from '../actor.js'
import { STATUS_ANNOTATION } from './annotations.js'

/** The `status` of a host, after a change. */
export interface AppliedHost {
  /** `NAMESPACE/NAME`. */
  name: string
  /** Null once the host is deleted. */
  state: string | null
  error: string | null
  isDetached: boolean
}

export interface AppliedHostsParts extends Pick<ActorParts, 'kube' | 'logger'> {
  ironic: IronicEndpoint
  onChange: (report: AppliedHost) => void
}

type NewOf<K extends KubeKind> = NewObject<KubeKinds[K]> & { kind: K }
type NewAny = { [K in KubeKind]: NewOf<K> }[KubeKind]

/** Hosts of files in an API: `kubectl apply --prune` of the files as a whole, each time that they change. */
export class AppliedHosts implements AsyncDisposable {
  readonly #parts: AppliedHostsParts
  readonly #closing = sharedAbort()
  readonly #watching: Promise<void>
  /** Objects as they were applied last, by kind and name. */
  #applied = new Map<string, NewAny>()
  #wanted: readonly WantedHost[] = []
  #turn: Promise<void> = Promise.resolve()

  constructor(parts: AppliedHostsParts) {
    this.#parts = parts
    this.#watching = this.#report().catch((error: unknown) =>
      parts.logger('error', `hosts are reported no more: ${errorChain(error).join(': ')}`, { error }),
    )
  }

  /** Takes the hosts that are wanted from now on: new ones are created, changed ones updated, missing ones deleted. */
  apply(wanted: readonly WantedHost[]): void {
    this.#wanted = wanted
    this.#turn = this.#turn
      .then(() => this.#apply())
      .catch((error: unknown) => {
        this.#parts.logger('error', `the hosts were not applied: ${errorChain(error).join(': ')}`, { error })
      })
  }

  async #apply(): Promise<void> {
    const objects = new Map(this.#objects().map((object) => [appliedKeyOf(object), object]))
    for (const [key, object] of objects) await this.#put(object, this.#applied.get(key))
    for (const [key, { kind, metadata }] of this.#applied)
      if (!objects.has(key)) await this.#parts.kube.delete(kind, metadata).catch(unlessGone)
    this.#applied = objects
  }

  /** Objects of the files; a host whose Secrets are missing stays as it was, or comes when they do. */
  #objects(): NewAny[] {
    const managed = this.#wanted.filter(({ host }) => host !== null)
    const hosts = managed.flatMap(({ name, missingSecrets, manifests }): NewAny[] => {
      const host = hostObject(manifests.host, name)
      if (missingSecrets.length === 0) return [host]
      const known = this.#applied.get(appliedKeyOf(host))
      return known ? [known] : []
    })
    const others = managed.flatMap(({ name, missingSecrets, manifests }): NewAny[] => {
      const [namespace = '', own = ''] = name.split('/')
      const metadata = { name: own, namespace }
      const { secrets, settings, updates } = manifests
      if (missingSecrets.length > 0) {
        const known = [...secretNames(manifests.host)].map((each) => this.#applied.get(`Secret/${namespace}/${each}`))
        return known.filter((each) => each !== undefined)
      }
      return [
        ...secrets.map((secret) => secretObject(secret, namespace)),
        ...(settings ? [makeKubeObject('HostFirmwareSettings', { metadata, spec: { settings } })] : []),
        ...(updates ? [makeKubeObject('HostFirmwareComponents', { metadata, spec: { updates } })] : []),
      ]
    })
    return [...others, ...hosts]
  }

  /** Sends what changed since the last time: what the operator wrote meanwhile stays. */
  async #put(wanted: NewAny, before: NewAny | undefined): Promise<void> {
    const { kube } = this.#parts
    const { kind, metadata } = wanted
    const found = await kube.find(kind, metadata)
    if (!found) return void (await kube.create(await this.#known(wanted)))
    // One that is going comes back once it is gone.
    if (found.metadata.deletionTimestamp !== undefined || isSameJson(wanted, before)) return
    const { metadata: _m, ...rest } = wanted
    const members = before ? Object.fromEntries(Object.keys(before).map((key) => [key, undefined])) : {}
    const annotations = { ...found.metadata.annotations }
    const was = before?.metadata.annotations ?? {}
    const is = metadata.annotations ?? {}
    for (const key of Object.keys(was)) if (!(key in is)) delete annotations[key]
    for (const [key, value] of Object.entries(is)) if (was[key] !== value) annotations[key] = value
    await kube.update({
      ...found,
      ...members,
      ...rest,
      metadata: { ...found.metadata, annotations },
    } as never)
  }

  /** A host whose node Ironic has deployed already is one that was moved here: its status comes with it. */
  async #known(wanted: NewAny): Promise<NewAny> {
    if (wanted.kind !== 'BareMetalHost') return wanted
    const { name, namespace, annotations } = wanted.metadata
    const node = await this.#node(`${namespace}~${name}`)
    if (node?.provision_state !== 'active' || wanted.spec['externallyProvisioned'] === true) return wanted
    const { image, customDeploy } = wanted.spec
    const status: Partial<BareMetalHostStatus> = {
      operationalStatus: 'OK',
      poweredOn: node.power_state === 'power on',
      provisioning: {
        ID: node.uuid,
        state: 'provisioned',
        bootMode: (wanted.spec['bootMode'] as string | undefined) ?? 'UEFI',
        ...defined({ image, customDeploy }),
      },
    }
    const metadata = {
      ...wanted.metadata,
      annotations: { ...annotations, [STATUS_ANNOTATION]: JSON.stringify(status) },
    }
    return { ...wanted, metadata }
  }

  async #node(name: string): Promise<{ uuid: string; provision_state: string; power_state: string } | undefined> {
    const { transport, url, headers } = this.#parts.ironic
    const versioned = { ...headers, 'x-openstack-ironic-api-version': '1.95' }
    const { signal } = this.#closing
    const answer = await transport
      .send({ method: 'GET', url: `${url}/v1/nodes/${name}`, headers: versioned, signal })
      .catch(() => undefined)
    return answer?.status === 200 ? (JSON.parse(answer.body ?? '') as never) : undefined
  }

  async #report(): Promise<void> {
    const known = new Map<string, { is: AppliedHost; shown: AppliedHost }>()
    const { kube, onChange } = this.#parts
    for await (const { type, object: host } of kube.watch('BareMetalHost', { signal: this.#closing.signal })) {
      const isGone = type === 'DELETED'
      const is = reportOf(host, isGone)
      const before = known.get(is.name)
      // The next state begins with the error of the one before it, until its first work is done.
      const isOld =
        before !== undefined && before.is.error === is.error && (before.is.state !== is.state || !before.shown.error)
      const shown = isOld ? { ...is, error: null } : is
      if (!isSameJson(shown, before?.shown)) onChange(shown)
      if (isGone) {
        known.delete(is.name)
        // The host's Secret may have been deleted with it.
        if (this.#wanted.some(({ name }) => name === is.name)) this.apply(this.#wanted)
      } else known.set(is.name, { is, shown })
    }
  }

  /** Stops; objects stay as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#watching, this.#turn])
  }
}

function reportOf({ metadata, status }: BareMetalHost, isGone: boolean): AppliedHost {
  const { provisioning, errorMessage = '', operationalStatus } = status ?? {}
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    state: isGone ? null : provisioning?.state || 'registering',
    error: errorMessage === '' ? null : errorMessage,
    isDetached: operationalStatus === 'detached',
  }
}

const appliedKeyOf = ({ kind, metadata }: NewAny): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

const makeKubeObject = <K extends KubeKind>(kind: K, rest: object): NewOf<K> =>
  ({ apiVersion: apiVersionOf(kind), kind, ...rest }) as unknown as NewOf<K>

function hostObject({ metadata, spec }: BareMetalHostManifest, key: string): NewOf<'BareMetalHost'> {
  const [namespace = '', name = ''] = key.split('/')
  const { annotations } = metadata
  return makeKubeObject('BareMetalHost', { metadata: { name, namespace, ...defined({ annotations }) }, spec })
}

/** Secrets become values as the API keeps them, so that what is applied is compared with what is there. */
function secretObject({ metadata, data = {}, stringData = {} }: SecretManifest, namespace: string): NewOf<'Secret'> {
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  const plain = Object.entries(data).map(([key, text]) => [key, text.replaceAll(/\s/g, '')])
  return makeKubeObject('Secret', {
    metadata: { name: metadata.name, namespace },
    type: 'Opaque',
    data: Object.fromEntries([...plain, ...encoded]) as Record<string, string>,
  })
}

function secretNames({ spec }: BareMetalHostManifest): Set<string> {
  const references = [spec.bmc?.credentialsName, spec.userData?.name, spec.networkData?.name, spec.metaData?.name]
  return new Set([...references, spec.preprovisioningNetworkDataName].filter((name) => name !== undefined))
}

function unlessGone(error: unknown): void {
  if (!isRefusal(error, 404)) throw error
}
