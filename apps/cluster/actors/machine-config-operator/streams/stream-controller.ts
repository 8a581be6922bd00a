import {
  apiVersionOf,
  watchObject,
  type ClusterVersion,
  type ObjectName,
  type OsImageStream,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import { minutes } from '../../../../../base/runtime/index.js'
import { OS_IMAGE_STREAM } from '../../../admission/stream-policies.js'
import { KEEPS_INSTALLED_STREAM } from '../machine-config-behaviours.js'
import { MACHINE_CONFIG_OPERATOR, OS_IMAGE } from '../machine-config-names.js'
import type { MachineConfigOperatorParts } from '../machine-config-operator.js'
import { discoverStreams } from './discover-streams.js'
import { builtinStream, FOUND_IN, missingDefault, WRITTEN_BY, type OsStream } from './os-streams.js'

/** Pause before a release image that cannot be read is read again. */
const RETRY_PAUSE = minutes(1)

/**
 * Keeps OSImageStream `cluster`: the streams of the release image, found once a release by the operator of that release
 * (machine-config-operator 7ff337a pkg/controller/osimagestream). A release whose images have no such labels has none.
 */
export class StreamController implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: streams`
  readonly watches: readonly WatchedKind[] = [
    watchObject('ClusterVersion', { name: 'version' }, OS_IMAGE_STREAM),
    watchObject('ConfigMap', OS_IMAGE, OS_IMAGE_STREAM),
    { kind: 'OSImageStream' },
  ]
  readonly #parts: MachineConfigOperatorParts
  /** The last failure that was announced: it is met again with every event. */
  #failure: string | undefined

  constructor(parts: MachineConfigOperatorParts) {
    this.#parts = parts
  }

  async reconcile(_at: ObjectName, signal: AbortSignal): Promise<ReconcileResult> {
    const { kube } = this.#parts
    const version = (await kube.find('ConfigMap', OS_IMAGE))?.data?.['releaseVersion']
    const cluster = await kube.find('ClusterVersion', { name: 'version' })
    const desired = cluster?.status?.desired
    // The operator of before the upgrade leaves the streams of a new release to its successor.
    if (version === undefined || !desired || desired.version !== version) return
    const current = await kube.find('OSImageStream', OS_IMAGE_STREAM)
    const annotations = current?.metadata.annotations ?? {}
    if (current && annotations[FOUND_IN] === desired.image && annotations[WRITTEN_BY] === version)
      return this.#followDefault(current)
    const streams = await this.#discover(desired.image, signal)
    if (streams === 'unreadable') return { again: RETRY_PAUSE }
    if (streams.length === 0) return
    await this.#write(current, streams, { cluster: cluster!, version, image: desired.image })
  }

  /** The streams of a release; `unreadable` while an image cannot be pulled. */
  async #discover(image: string, signal: AbortSignal): Promise<OsStream[] | 'unreadable'> {
    const { registry } = this.#parts
    try {
      const { payload } = await registry.pull(image, signal)
      return payload ? await discoverStreams(payload, registry, signal) : []
    } catch {
      signal.throwIfAborted()
      return 'unreadable'
    }
  }

  async #write(
    current: OsImageStream | undefined,
    availableStreams: OsStream[],
    { cluster, version, image }: { cluster: ClusterVersion; version: string; image: string },
  ): Promise<void> {
    const { kube, announce, behaviours } = this.#parts
    const installed = behaviours.has(KEEPS_INSTALLED_STREAM) ? installedVersion(cluster) : version
    const defaultStream = wantedDefault(current, availableStreams, installed)
    const names = availableStreams.map(({ name }) => name)
    if (!names.includes(defaultStream)) return this.#announceMissing(missingDefault(defaultStream, names))
    const annotations = { [WRITTEN_BY]: version, [FOUND_IN]: image }
    if (!current)
      await kube.create<'OSImageStream'>({
        apiVersion: apiVersionOf('OSImageStream'),
        kind: 'OSImageStream',
        metadata: OS_IMAGE_STREAM,
        spec: { defaultStream },
      })
    const known = await kube.get('OSImageStream', OS_IMAGE_STREAM)
    const written = await kube.updateStatus<'OSImageStream'>({ ...known, status: { defaultStream, availableStreams } })
    // Last: these say that the streams are those of the release.
    await kube.patch('OSImageStream', { name: written.metadata.name }, { metadata: { annotations } })
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `finds the streams ${names.join(' and ')} in ${version}`,
      because: `the cluster's default is ${defaultStream}`,
    })
  }

  /** Without its default no stream is written, and the other controllers wait for it. */
  #announceMissing(failure: string): void {
    if (this.#failure === failure) return
    this.#failure = failure
    this.#parts.announce({ actor: MACHINE_CONFIG_OPERATOR, does: 'renders no configuration', because: failure })
  }

  /** Makes the default that the administrator asks for the one that counts. */
  async #followDefault(current: OsImageStream): Promise<void> {
    const { kube, announce } = this.#parts
    const { spec, status } = current
    if (!status || status.defaultStream === spec.defaultStream) return
    if (!status.availableStreams.some(({ name }) => name === spec.defaultStream)) return
    await kube.updateStatus<'OSImageStream'>({ ...current, status: { ...status, defaultStream: spec.defaultStream } })
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `makes ${spec.defaultStream} the default stream`,
      because: 'the administrator asks for it',
    })
  }
}

/** The default: the one that was asked for, else the one that there is, else that of the first release. */
function wantedDefault(current: OsImageStream | undefined, streams: readonly OsStream[], installed: string): string {
  const only = streams.length === 1 ? streams[0]!.name : undefined
  return current?.spec.defaultStream ?? only ?? builtinStream(installed)
}

/** The first release of a cluster. */
function installedVersion({ status }: ClusterVersion): string {
  const first = status?.history.findLast(({ state }) => state === 'Completed')
  return first?.version ?? status?.desired.version ?? ''
}
