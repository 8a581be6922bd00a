import {
  Behaviours,
  isRefusal,
  openKube,
  withConditions,
  type BareMetalHost,
  type KubeClient,
  type ObjectName,
} from '../../base/kubernetes/index.js'
import { defined, seconds, seededRandom, silent } from '../../base/runtime/index.js'
import type { StagedLab } from '../../lab/index.js'
import { INSPECT } from '../controller/annotations.js'
import { HostController } from '../controller/host-controller.js'
import { wantedSettings } from '../controller/host-inputs.js'
import { asManagedHost, clearError } from '../controller/host-status.js'
import { hostObject, objectsBeside } from '../controller/manifest-objects.js'
import { secretLabel } from '../manifests/manifest-host.js'
import { DOCKER_CONFIG_KEY, DOCKER_CONFIG_TYPE, registrySecretOf } from '../manifests/registry-secret.js'
import type { SecretManifest } from '../manifests/manifest-types.js'
import type { WantedHost } from '../manifests/wanted-hosts.js'
import type { RamdiskSource } from '../provisioner/host-data-model.js'
import { Calls, Unexpected, type MadeCall } from '../provisioner/ironic-calls.js'
import type { HostEvent } from '../provisioner/node-requests.js'

export interface DryRunOptions {
  ramdisk?: RamdiskSource | undefined
  onCall: (call: MadeCall) => void
}

/** Kinds that say what firmware the spec asks for. */
const FIRMWARE_KINDS = ['HostFirmwareSettings', 'HostFirmwareComponents'] as const

/** The controller of BareMetalHosts at work on one host, pass by pass, in a Kubernetes API of its own. */
export class DryRun {
  readonly #lab: StagedLab
  readonly #kube: KubeClient
  readonly #calls: Calls
  readonly #controller: HostController
  readonly #at: ObjectName
  /** Version of the last event that was looked at. */
  #lastEvent = 0

  private constructor(lab: StagedLab, wanted: WantedHost, { ramdisk, onCall }: DryRunOptions) {
    const { clock } = lab
    const random = seededRandom(1)
    const [namespace = '', name = ''] = wanted.name.split('/')
    this.#lab = lab
    this.#at = { namespace, name }
    this.#kube = openKube({ clock, random }).client
    this.#calls = new Calls(lab, { onCall })
    const parts = {
      kube: this.#kube,
      clock,
      random,
      logger: silent,
      behaviours: new Behaviours([]),
      announce: () => {},
      settings: defined({ ramdisk }),
    }
    this.#controller = new HostController(parts, this.#calls)
  }

  static async open(lab: StagedLab, wanted: WantedHost, options: DryRunOptions): Promise<DryRun> {
    const run = new DryRun(lab, wanted, options)
    await run.#create(wanted)
    return run
  }

  /** The host as it is now; undefined once it is deleted. */
  host(): Promise<BareMetalHost | undefined> {
    return this.#kube.find('BareMetalHost', this.#at)
  }

  /**
   * One pass, and the pause after it.
   *
   * @returns length of the pause
   * @throws Unexpected where Ironic refuses a request
   */
  async pass(): Promise<number> {
    const { clock, wait } = this.#lab
    const pause = await wait(
      (async () => {
        await this.#calls.readyFor(clock)
        const result = await this.#controller.pass(this.#at).catch((error: unknown) => {
          // A locked node, or an object that was written in the meantime.
          if ((error instanceof Unexpected && error.status === 409) || isRefusal(error, 409)) return undefined
          throw error
        })
        const { again } = result ?? { again: seconds(1) }
        await clock.sleep(again)
        return again
      })(),
    )
    if (this.#controller.asked.includes('clean')) await this.#setFirmware('False')
    return pause
  }

  /** Events that the host has had since the last look, in order. */
  async events(): Promise<HostEvent[]> {
    const { items } = await this.#kube.list('Event')
    const later = items
      .filter(({ metadata }) => Number(metadata.resourceVersion) > this.#lastEvent)
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    this.#lastEvent = Number(later.at(-1)?.metadata.resourceVersion ?? this.#lastEvent)
    return later.map(({ reason = '', message = '' }) => ({ reason, message }))
  }

  async delete(): Promise<void> {
    await this.#kube.delete('BareMetalHost', this.#at)
  }

  /** Goes on as if the hardware had been prepared. */
  async skipPreparation(): Promise<void> {
    for (const kind of FIRMWARE_KINDS)
      if (await this.#kube.find(kind, this.#at)) await this.#kube.delete(kind, this.#at)
    const host = asManagedHost(await this.#kube.get('BareMetalHost', this.#at))
    const { provisioning } = wantedSettings(host)
    host.status.provisioning = { ...provisioning, state: 'available' }
    host.status.errorCount = 0
    clearError(host.status)
    await this.#kube.updateStatus<'BareMetalHost'>(host)
  }

  async #create({ name: key, manifests, missingSecrets }: WantedHost): Promise<void> {
    const { host } = manifests
    const placeholders = missingSecrets.map((name) => placeholderSecret(name, host.spec))
    const secrets = [...manifests.secrets, ...placeholders]
    for (const object of objectsBeside(key, { ...manifests, secrets })) await this.#kube.create(object)
    // The manifest's word is taken for what the firmware can do: the real hardware is not there to be read.
    await this.#setFirmware('True')
    // Annotations that would keep the controller from its work are left out.
    const annotations = Object.fromEntries(
      Object.entries(host.metadata.annotations ?? {}).filter(([name]) => name.startsWith(INSPECT)),
    )
    await this.#kube.create(hostObject({ ...host, metadata: { ...host.metadata, annotations } }, key))
  }

  /** Says whether the firmware that the spec asks for differs from the present one. */
  async #setFirmware(changed: 'True' | 'False'): Promise<void> {
    for (const kind of FIRMWARE_KINDS) {
      const found = await this.#kube.find(kind, this.#at)
      if (!found) continue
      const observed = { reason: 'Success', message: '', observedGeneration: found.metadata.generation }
      const conditions = withConditions(
        found.status?.conditions,
        [
          { type: 'ChangeDetected', status: changed, ...observed },
          { type: 'Valid', status: 'True', ...observed },
        ],
        this.#lab.clock,
      )
      const status = kind === 'HostFirmwareSettings' ? { settings: UNKNOWN_SETTINGS, conditions } : { conditions }
      await this.#kube.updateStatus({ ...found, status: { ...found.status, ...status } } as typeof found)
    }
  }
}

/** Stands for settings that were read: no name of a real one, so that all that are asked for differ. */
const UNKNOWN_SETTINGS = { '': '' }

/** A Secret that no file has, with placeholders for what the host takes from it. */
function placeholderSecret(name: string, spec: WantedHost['manifests']['host']['spec']): SecretManifest {
  const { bmc, image, userData, networkData, metaData, preprovisioningNetworkDataName } = spec
  const label = (key: string): string => secretLabel(name, key)
  if (registrySecretOf(image) === name) return placeholderAccount(name, image?.url ?? '')
  const stringData = defined({
    username: bmc?.credentialsName === name ? label('username') : undefined,
    password: bmc?.credentialsName === name ? label('password') : undefined,
    userData: userData?.name === name ? label('userData') : undefined,
    networkData: [networkData?.name, preprovisioningNetworkDataName].includes(name) ? NO_NETWORK : undefined,
    metaData: metaData?.name === name ? '{}' : undefined,
  })
  return { kind: 'Secret', metadata: { name }, stringData }
}

function placeholderAccount(name: string, url: string): SecretManifest {
  const [username, password] = ['user', 'password'].map((key) => secretLabel(name, key))
  const host = URL.canParse(url) ? new URL(url).host : ''
  const config = { auths: { [host]: { username, password } } }
  const stringData = { [DOCKER_CONFIG_KEY]: JSON.stringify(config) }
  return { kind: 'Secret', type: DOCKER_CONFIG_TYPE, metadata: { name }, stringData }
}

const NO_NETWORK = JSON.stringify({ links: [], networks: [], services: [] })
