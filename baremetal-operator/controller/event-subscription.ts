import { defined, errorChain, minutes, seconds, type Clock } from '../../base/runtime/index.js'
import {
  type ActorParts,
  type BareMetalHost,
  type BmcEventSubscription,
  type ObjectName,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { goQuote } from '../go/quote.js'
import type { Calls } from '../provisioner/ironic-calls.js'
import { SeenObjects } from './seen-objects.js'

const SUBSCRIPTION_FINALIZER = 'bmceventsubscription.metal3.io'
const MISSING_HOST_DELAY = minutes(10)
const PROVISIONER_NOT_READY_DELAY = seconds(30)

export interface EventSubscriptionParts extends ActorParts {
  calls: Calls
}

/**
 * The controller of BMCEventSubscriptions: Ironic subscribes to the events of the host's BMC, once, and the subscription
 * ends with its object (internal/controller/metal3.io/bmceventsubscription_controller.go).
 */
export class EventSubscriptionController implements ResourceController {
  readonly name = 'baremetal-operator BMCEventSubscription'
  readonly watches: readonly WatchedKind[] = [
    { kind: 'BMCEventSubscription', keysOf: (at) => this.#changed(at) },
    // As there: a change of a host concerns the subscription of the same name, and no other that names the host.
    { kind: 'BareMetalHost' },
  ]
  readonly #parts: EventSubscriptionParts
  readonly #seen = new SeenObjects()

  constructor(parts: EventSubscriptionParts) {
    this.#parts = parts
  }

  /** updateEventHandler: a change of the status is no reason to look. */
  async #changed(at: ObjectName): Promise<ObjectName[]> {
    const found = await this.#parts.kube.find('BMCEventSubscription', at)
    const { uid, generation, finalizers, annotations } = found?.metadata ?? {}
    return this.#seen.hasChanged(at, found && [uid, generation, finalizers, annotations]) ? [at] : []
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const { kube, calls, clock } = this.#parts
    const found = await kube.find('BMCEventSubscription', at)
    if (!found) return undefined
    const host = await kube.find(
      'BareMetalHost',
      defined({ name: found.spec?.hostName ?? '', namespace: at.namespace }),
    )
    if (!host) {
      // The sentence has the error of before in place of the host: so does BareMetal Operator's.
      await this.#showError(found, `baremetal host ${goQuote(found.status?.error ?? '')}`)
      return { again: MISSING_HOST_DELAY }
    }
    const subscription = await this.#withFinalizer(found)
    if (!(await isIronicReady(calls, clock))) return { again: PROVISIONER_NOT_READY_DELAY }
    const node = `/nodes/${nodeIdOf(host)}/vendor_passthru`
    if (subscription.metadata.deletionTimestamp === undefined)
      await this.#orError(subscription, 'failed to create a subscription', () => this.#create(subscription, node))
    else await this.#orError(subscription, 'failed to delete a subscription', () => this.#delete(subscription, node))
    return undefined
  }

  async #withFinalizer(subscription: BmcEventSubscription): Promise<BmcEventSubscription> {
    const { finalizers = [], deletionTimestamp } = subscription.metadata
    if (deletionTimestamp !== undefined || finalizers.includes(SUBSCRIPTION_FINALIZER)) return subscription
    return this.#writeFinalizers(subscription, [...finalizers, SUBSCRIPTION_FINALIZER])
  }

  #writeFinalizers(subscription: BmcEventSubscription, finalizers: string[]): Promise<BmcEventSubscription> {
    const metadata = { ...subscription.metadata, finalizers }
    return this.#parts.kube.update<'BMCEventSubscription'>({ ...subscription, metadata })
  }

  /** An error stays in the status until another one takes its place; the subscription is tried again. */
  async #orError(subscription: BmcEventSubscription, message: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (cause) {
      await this.#showError(subscription, message)
      throw new Error(`${message}: ${errorChain(cause).join(': ')}`, { cause })
    }
  }

  async #showError(subscription: BmcEventSubscription, error: string): Promise<void> {
    const current = await this.#parts.kube.get('BMCEventSubscription', subscription.metadata)
    await this.#writeStatus(current, { ...subscription.status, error })
  }

  #writeStatus(
    subscription: BmcEventSubscription,
    status: NonNullable<BmcEventSubscription['status']>,
  ): Promise<BmcEventSubscription> {
    return this.#parts.kube.updateStatus<'BMCEventSubscription'>({ ...subscription, status })
  }

  async #create(subscription: BmcEventSubscription, node: string): Promise<void> {
    const { spec = {}, status } = subscription
    if (status?.subscriptionID) return
    const headers = await this.#headers(subscription)
    const body = {
      Destination: spec.destination ?? '',
      ...defined({ Context: spec.context || undefined, HttpHeaders: headers.length > 0 ? headers : undefined }),
    }
    const path = `${node}?method=create_subscription`
    const { Id } = await this.#parts.calls.call<{ Id: string }>(
      'subscribes to the events of the BMC',
      'POST',
      path,
      body,
    )
    await this.#writeStatus(subscription, { ...status, subscriptionID: Id })
  }

  /** Headers that the BMC sends with its events: each in an object of its own, as Ironic takes them. */
  async #headers({ spec, metadata }: BmcEventSubscription): Promise<Record<string, string>[]> {
    const { httpHeadersRef } = spec ?? {}
    if (!httpHeadersRef) return []
    const { name = '', namespace } = httpHeadersRef
    if (namespace !== metadata.namespace)
      throw new Error('httpHeadersRef secret must be in the same namespace as the BMCEventSubscription')
    const { data = {} } = await this.#parts.kube.get('Secret', defined({ name, namespace }))
    return Object.entries(data).map(([header, value]) => ({ [header]: Buffer.from(value, 'base64').toString() }))
  }

  async #delete(subscription: BmcEventSubscription, node: string): Promise<void> {
    const { finalizers = [] } = subscription.metadata
    if (!finalizers.includes(SUBSCRIPTION_FINALIZER)) return
    const path = `${node}?method=delete_subscription`
    const body = { id: subscription.status?.subscriptionID ?? '' }
    await this.#parts.calls.call('ends the subscription', 'DELETE', path, body)
    await this.#writeFinalizers(
      subscription,
      finalizers.filter((each) => each !== SUBSCRIPTION_FINALIZER),
    )
  }
}

/** Empty for a host that is not registered: Ironic then has no such path, and the subscription is tried again. */
const nodeIdOf = ({ status }: BareMetalHost): string => status?.provisioning.ID ?? ''

async function isIronicReady(calls: Calls, clock: Clock): Promise<boolean> {
  try {
    await calls.readyFor(clock)
    return true
  } catch {
    return false
  }
}
