import { defined, errorChain, sharedAbort } from '../../base/runtime/index.js'
import type { IronicEndpoint } from '../provisioner/ironic-calls.js'
import type { LooseManifest, WantedHost } from '../manifests/wanted-hosts.js'
import {
  isSameJson,
  type BareMetalHost,
  type BareMetalHostStatus,
  isRefusal,
  type ActorParts,
} from '../../base/kubernetes/index.js'
import { STATUS_ANNOTATION } from './annotations.js'
import { hostObject, looseObject, objectsBeside, type ManifestObject } from './manifest-objects.js'

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
  /** An object that the API refuses, with its place: it stays as it is there, and the others are applied. */
  onRefusal?: (problem: string) => void
}

export interface ApplyOptions {
  /** Objects that the files no longer have are deleted; kubectl does not prune where it could not take all of them. */
  prunes?: boolean
  /** Objects that go with no host; none by default. */
  loose?: readonly LooseManifest[]
}

/** An object of the files, and where it is from. */
interface PlacedObject {
  object: ManifestObject
  place: string
}

/** Hosts of files in an API: `kubectl apply --prune` of the files as a whole, each time that they change. */
export class AppliedHosts implements AsyncDisposable {
  readonly #parts: AppliedHostsParts
  readonly #closing = sharedAbort()
  readonly #watching: Promise<void>
  /** Objects as they were applied last, by kind and name. */
  #applied = new Map<string, ManifestObject>()
  #wanted: readonly WantedHost[] = []
  #options: ApplyOptions = {}
  #turn: Promise<void> = Promise.resolve()

  constructor(parts: AppliedHostsParts) {
    this.#parts = parts
    this.#watching = this.#report().catch((error: unknown) =>
      parts.logger('error', `hosts are reported no more: ${errorChain(error).join(': ')}`, { error }),
    )
  }

  /** Takes the hosts that are wanted from now on: new ones are created, changed ones updated, missing ones deleted. */
  apply(wanted: readonly WantedHost[], options: ApplyOptions = {}): void {
    this.#wanted = wanted
    this.#options = options
    this.#turn = this.#turn
      .then(() => this.#apply())
      .catch((error: unknown) => {
        this.#parts.logger('error', `the hosts were not applied: ${errorChain(error).join(': ')}`, { error })
      })
  }

  async #apply(): Promise<void> {
    const { kube } = this.#parts
    const { prunes = true } = this.#options
    const wanted = new Map(this.#objects().map((placed) => [appliedKeyOf(placed.object), placed]))
    const applied = new Map(this.#applied)
    let isWhole = true
    for (const [key, { object, place }] of wanted)
      if (await this.#takes(object, place)) applied.set(key, object)
      else isWhole = false
    for (const [key, { kind, metadata }] of this.#applied) {
      if (wanted.has(key) || !prunes || !isWhole) continue
      await kube.delete(kind, metadata).catch(unlessGone)
      applied.delete(key)
    }
    this.#applied = applied
  }

  /** False for an object that the API refuses. */
  async #takes(object: ManifestObject, place: string): Promise<boolean> {
    try {
      await this.#put(object, this.#applied.get(appliedKeyOf(object)))
      return true
    } catch (error) {
      if (!isRefusal(error, 403) && !isRefusal(error, 422)) throw error
      this.#parts.onRefusal?.(`${place}: ${error.message}`)
      return false
    }
  }

  /** All objects of the files; as with kubectl, a host comes without the Secrets that they lack, and shows it. */
  #objects(): PlacedObject[] {
    const hosts = this.#wanted.map(({ name, file, document, manifests }) => ({
      object: hostObject(manifests.host, name) as ManifestObject,
      place: `${file}: document ${document}`,
    }))
    const others = this.#wanted.flatMap(({ name, file, manifests }) =>
      objectsBeside(name, manifests).map((object) => ({
        object,
        place: `${file}: ${object.kind} ${object.metadata.name}`,
      })),
    )
    const loose = (this.#options.loose ?? []).map((each) => ({
      object: looseObject(each),
      place: `${each.file}: ${each.manifest.kind} ${each.manifest.metadata.name}`,
    }))
    return [...loose, ...others, ...hosts]
  }

  /** Sends what changed since the last time: what the operator wrote meanwhile stays. */
  async #put(wanted: ManifestObject, before: ManifestObject | undefined): Promise<void> {
    const { kube } = this.#parts
    const { kind, metadata } = wanted
    const found = await kube.find(kind, metadata)
    if (!found) return void (await kube.create(await this.#known(wanted)))
    // One that is going comes back once it is gone.
    if (found.metadata.deletionTimestamp !== undefined || isSameJson(wanted, before)) return
    const { metadata: _m, ...rest } = wanted
    const members = before ? Object.fromEntries(Object.keys(before).map((key) => [key, undefined])) : {}
    const changed = (member: 'labels' | 'annotations') =>
      appliedTexts(found.metadata[member], before?.metadata[member], metadata[member])
    await kube.update({
      ...found,
      ...members,
      ...rest,
      metadata: { ...found.metadata, labels: changed('labels'), annotations: changed('annotations') },
    } as never)
  }

  /** A host whose node Ironic has deployed already is one that was moved here: its status comes with it. */
  async #known(wanted: ManifestObject): Promise<ManifestObject> {
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
        if (this.#wanted.some(({ name }) => name === is.name)) this.apply(this.#wanted, this.#options)
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

type MetadataTexts = Readonly<Record<string, string>>

/** Labels or annotations after an apply: those of others stay, those that a file no longer has go. */
function appliedTexts(
  found: MetadataTexts = {},
  before: MetadataTexts = {},
  wanted: MetadataTexts = {},
): MetadataTexts {
  const texts = { ...found }
  for (const key of Object.keys(before)) if (!Object.hasOwn(wanted, key)) delete texts[key]
  for (const [key, value] of Object.entries(wanted)) if (before[key] !== value) texts[key] = value
  return texts
}

const appliedKeyOf = ({ kind, metadata }: ManifestObject): string =>
  `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

function unlessGone(error: unknown): void {
  if (!isRefusal(error, 404)) throw error
}
