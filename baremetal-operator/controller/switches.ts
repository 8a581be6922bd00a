import {
  isSameJson,
  withCondition,
  type ActorParts,
  type BareMetalSwitch,
  type ConditionChange,
  type ObjectName,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { defined, seconds } from '../../base/runtime/index.js'
import { claimSecret } from './host-secrets.js'
import { SwitchAccountError, switchEntry, type SwitchEntry, type SwitchSettings } from './switch-config.js'

const CONFIG_KEY = 'switch-configs.conf'
const CONFIG_HEADING = '# This file is managed by the Baremetal Operator\n\n'
const MISSING_SECRET_DELAY = seconds(10)

/**
 * The controller of BareMetalSwitches (baremetalswitch_controller.go): it writes all switches of a namespace into the
 * Secret that Ironic's network service reads, and their keys into another one. Both have to be there already.
 */
export class SwitchController implements ResourceController {
  readonly name = 'baremetal-operator BareMetalSwitch'
  readonly watches: readonly WatchedKind[] = [
    { kind: 'BareMetalSwitch' },
    { kind: 'Secret', keysOf: (at) => this.#ownersOf(at) },
  ]
  readonly #parts: ActorParts
  readonly #settings: SwitchSettings

  constructor(parts: ActorParts, settings: SwitchSettings) {
    this.#parts = parts
    this.#settings = settings
  }

  async #ownersOf(at: ObjectName): Promise<ObjectName[]> {
    const { ownerReferences = [] } = (await this.#parts.kube.find('Secret', at))?.metadata ?? {}
    const { namespace } = at
    return ownerReferences
      .filter(({ kind }) => kind === 'BareMetalSwitch')
      .map(({ name }) => ({ name, ...defined({ namespace }) }))
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const problems = await this.#writeConfig(at.namespace ?? '')
    const found = await this.#parts.kube.find('BareMetalSwitch', at)
    if (!found) return undefined
    const problem = problems.get(at.name)
    await this.#show(found, {
      type: 'Valid',
      status: problem ? 'False' : 'True',
      reason: problem ? 'CredentialError' : 'Reconciled',
      message: problem?.message ?? 'Switch configuration has been successfully reconciled into the config secret',
    })
    return problem?.isMissing ? { again: MISSING_SECRET_DELAY } : undefined
  }

  /** @returns the switches that were left out, by name */
  async #writeConfig(namespace: string): Promise<Map<string, SwitchAccountError>> {
    const { configSecret, keySecret } = this.#settings
    const { items } = await this.#parts.kube.list('BareMetalSwitch', { namespace })
    const entries = new Map<string, SwitchEntry>()
    const problems = new Map<string, SwitchAccountError>()
    for (const each of items)
      try {
        entries.set(each.metadata.name, await this.#entryOf(each))
      } catch (error) {
        if (!(error instanceof SwitchAccountError)) throw error
        problems.set(each.metadata.name, error)
      }
    const sorted = [...entries.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
    const config = `${CONFIG_HEADING}${sorted.map(({ text }) => text).join('')}`
    await this.#writeSecret({ name: configSecret, namespace }, { [CONFIG_KEY]: Buffer.from(config).toString('base64') })
    const keys = sorted.flatMap(({ keyFile }) => (keyFile ? [[keyFile.name, keyFile.data] as const] : []))
    await this.#writeSecret({ name: keySecret, namespace }, Object.fromEntries(keys))
    return problems
  }

  async #entryOf(each: BareMetalSwitch): Promise<SwitchEntry> {
    const { kube } = this.#parts
    const { credentials } = each.spec
    if (!credentials) throw new SwitchAccountError('credentials secret reference is not set')
    const name = credentials.name ?? ''
    const namespace = credentials.namespace || each.metadata.namespace!
    const secret = await kube.find('Secret', { name, namespace })
    if (!secret) throw new SwitchAccountError(`credentials secret ${namespace}/${name} not found`, { isMissing: true })
    const owner = { kind: 'BareMetalSwitch' as const, metadata: each.metadata }
    return switchEntry(each, await claimSecret(kube, secret, { owner }), this.#settings.keyFolder)
  }

  /** @throws Error for a Secret that is not there */
  async #writeSecret(at: ObjectName, data: Record<string, string>): Promise<void> {
    const { kube } = this.#parts
    const found = await kube.find('Secret', at)
    if (!found) throw new Error(`failed to get secret ${at.name}: it does not exist`)
    const secret = await claimSecret(kube, found, {})
    if (!isSameJson(secret.data ?? {}, data)) await kube.update<'Secret'>({ ...secret, data })
  }

  async #show(found: BareMetalSwitch, condition: ConditionChange): Promise<void> {
    const { kube, clock } = this.#parts
    const { metadata, status = {} } = found
    const observed = { ...condition, observedGeneration: metadata.generation }
    const conditions = withCondition(status.conditions, observed, clock)
    if (isSameJson(conditions, status.conditions)) return
    await kube.updateStatus<'BareMetalSwitch'>({ ...found, status: { ...status, conditions } })
  }
}
