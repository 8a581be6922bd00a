import { defined, minutes, seconds } from '../../base/runtime/index.js'
import { Unexpected, type Calls } from '../provisioner/ironic-calls.js'
import type { ApiNode } from '../../base/wire/index.js'
import {
  kubeTime,
  type DataImage,
  type ObjectName,
  type ActorParts,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { detachmentOf, isPaused } from './annotations.js'
import { ownedBy } from './deploy-image.js'
import { continueAfter, type HostPass, type Result } from './host-pass.js'
import { SeenObjects } from './seen-objects.js'

const DATA_IMAGE_FINALIZER = 'dataimage.metal3.io'
const DATA_IMAGE_UPDATE_DELAY = seconds(30)
const DATA_IMAGE_RETRY_DELAY = minutes(1)
const DATA_IMAGE_DETACHED_DELAY = seconds(20)

type Status = Required<NonNullable<DataImage['status']>>

const dataImageStatusOf = ({ status }: DataImage): Status => ({
  attachedImage: { url: '' },
  error: { count: 0, message: '' },
  lastReconciled: '',
  ...status,
})

/** True if an image is in a drive; undefined while Ironic is at work on the node, whose BMC is not asked then. */
async function isInserted(calls: Calls, node: ApiNode): Promise<boolean | undefined> {
  if (node.reservation) return undefined
  const path = `/nodes/${node.uuid}/vmedia`
  const drives = await calls.call<{ inserted: boolean }[]>('what is in the virtual drives?', 'GET', path)
  return drives.some(({ inserted }) => inserted)
}

/**
 * Attaches the DataImage of a host's name, or detaches it, while the host is off (handleDataImageActions of the
 * controller). Undefined once it is as it should be.
 */
export async function handleDataImage(pass: HostPass): Promise<Result | undefined> {
  const { kube, calls, clock, event } = pass.parts
  const { name, namespace = '' } = pass.managed.metadata
  const image = await kube.find('DataImage', { name, namespace })
  if (!image) return undefined
  const status = dataImageStatusOf(image)
  status.lastReconciled = kubeTime(clock.now())
  const save = () => kube.updateStatus<'DataImage'>({ ...image, status })
  const pause = continueAfter(
    Math.max(DATA_IMAGE_UPDATE_DELAY, status.error.count === 0 ? 0 : pass.backOff(status.error.count)),
  )
  const failed = async (error: unknown): Promise<void> => {
    status.error = { count: status.error.count + 1, message: (error as Error).message }
    await save()
  }
  const node = await pass.node()
  let isAttached: boolean | undefined
  try {
    isAttached = await isInserted(calls, node)
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error
    await failed(error)
  }
  if (isAttached === undefined) return pause
  const attached = status.attachedImage.url
  if (!isAttached && attached !== '') {
    status.attachedImage = { url: '' }
    await save()
    return continueAfter(0)
  }
  const isDeleted = image.metadata.deletionTimestamp !== undefined
  const wanted = isDeleted ? '' : image.spec.url
  const path = `/nodes/${node.uuid}/vmedia`
  try {
    if (isDeleted ? isAttached : wanted !== attached && attached !== '') {
      await calls.call('takes the image out', 'DELETE', `${path}?device_types=cdrom`)
      event(`removes the data image from ${name}`)
      return pause
    }
    if (isDeleted) return undefined
    if (wanted !== attached) {
      await calls.call('puts the image in', 'POST', path, { device_type: 'cdrom', image_url: wanted })
      event(`puts the data image into ${name}`)
      status.attachedImage = { url: wanted }
      await save()
      return pause
    }
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error
    await failed(error)
    throw error
  }
  status.error = { count: 0, message: '' }
  await save()
  return undefined
}

export interface DataImageParts extends ActorParts {
  calls: Calls
}

/** The controller of DataImages: they belong to their host, and go once nothing is attached any more. */
export class DataImageController implements ResourceController {
  readonly name = 'baremetal-operator DataImage'
  readonly watches: readonly WatchedKind[] = [{ kind: 'DataImage', keysOf: (at) => this.#changed(at) }]
  readonly #parts: DataImageParts
  readonly #seen = new SeenObjects()

  constructor(parts: DataImageParts) {
    this.#parts = parts
  }

  async #changed(at: ObjectName): Promise<ObjectName[]> {
    const found = await this.#parts.kube.find('DataImage', at)
    const { uid, generation, deletionTimestamp } = found?.metadata ?? {}
    return this.#seen.hasChanged(at, found && [uid, generation, deletionTimestamp]) ? [at] : []
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const { kube, calls, clock } = this.#parts
    const image = await kube.find('DataImage', at)
    if (!image) return undefined
    const { metadata } = image
    const { finalizers = [], ownerReferences = [], deletionTimestamp } = metadata
    const write = (more: Partial<DataImage['metadata']>) =>
      kube.update<'DataImage'>({ ...image, metadata: { ...metadata, ...more } })
    const release = async (): Promise<void> => {
      if (finalizers.includes(DATA_IMAGE_FINALIZER))
        await write({ finalizers: finalizers.filter((each) => each !== DATA_IMAGE_FINALIZER) })
    }
    const host = await kube.find('BareMetalHost', at)
    if (!host) return release()
    if (isPaused(host)) return undefined
    if (!ownerReferences.some(({ uid }) => uid === host.metadata.uid)) {
      await write({ ownerReferences: [...ownerReferences, ownedBy(host, false)] })
      return { again: 0 }
    }
    if (deletionTimestamp === undefined && !finalizers.includes(DATA_IMAGE_FINALIZER)) {
      await write({ finalizers: [...finalizers, DATA_IMAGE_FINALIZER] })
      return { again: 0 }
    }
    if (detachmentOf(host)) return deletionTimestamp === undefined ? { again: DATA_IMAGE_DETACHED_DELAY } : release()
    const status = dataImageStatusOf(image)
    const { lastReconciled, ...rest } = status
    const save = () =>
      kube.updateStatus<'DataImage'>({
        ...image,
        status: { ...rest, ...defined({ lastReconciled: lastReconciled || undefined }) },
      })
    let isAttached: boolean | undefined
    try {
      await calls.readyFor(clock)
      const path = `/nodes/${host.status?.provisioning.ID ?? ''}`
      isAttached = await isInserted(calls, await calls.call<ApiNode>('reads the node', 'GET', path))
    } catch (error) {
      rest.error = { count: rest.error.count + 1, message: (error as Error).message }
      await save()
      return { again: DATA_IMAGE_UPDATE_DELAY }
    }
    if (isAttached === undefined) return { again: DATA_IMAGE_UPDATE_DELAY }
    if (deletionTimestamp !== undefined) return isAttached ? { again: DATA_IMAGE_RETRY_DELAY } : release()
    rest.error = { count: 0, message: '' }
    await save()
    return undefined
  }
}
