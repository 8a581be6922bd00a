import { BmcError } from '../../../ironic-mock/index.js'
import { attachTo, type PointOf, type Stage } from '../../../lab/index.js'
import type { BootPoint, Machine, PowerPoint, PowerRequestPoint } from '../../../machine/index.js'
import type { Clock } from '../../../base/runtime/index.js'
import { nodeNameOf } from '../actors/kubelet.js'
import type { KubeClient } from '../../../base/kubernetes/index.js'

/** A boot as it came to its end. */
export interface MeasuredBoot {
  machine: string
  /** `disk` for its installed system, `ramdisk` for a deploy image. */
  outcome: string
  /** Lab time in milliseconds. */
  at: number
}

/** A computer that stops running its node, or does so again. */
interface AvailabilityChange {
  machine: string
  isUp: boolean
}

/** Boots, power, logins and workloads of the machines of a rehearsal, as they happen. */
export class Measures implements Disposable {
  readonly #parts: Pick<Stage, 'machines'> & { kube: KubeClient; clock: Clock }
  readonly #boots: MeasuredBoot[] = []
  readonly #changes: AvailabilityChange[] = []
  readonly #attached: Disposable[]
  /** Places in the lists of boots and changes, by the name of a moment. */
  readonly #marks = new Map<string, { boots: number; changes: number }>()
  readonly #installed = new Map<string, number>()
  /** When machines were switched on that have not booted yet. */
  readonly #switchedOn = new Map<string, number>()
  readonly #networkBoots: { from: number; to: number }[] = []
  /** Logins that the BMC of a node refused. */
  readonly #refusals = new Map<string, number>()
  readonly #cutOff: string[] = []

  constructor(
    { probe, events, machines }: Pick<Stage, 'probe' | 'events' | 'machines'>,
    parts: { kube: KubeClient; clock: Clock },
  ) {
    this.#parts = { ...parts, machines }
    this.#attached = [
      probe.attach<BootPoint>((point, next) => (this.#booted(point), next()), ['boot']),
      probe.attach<PowerPoint | PowerRequestPoint>(
        async (point, next) => {
          await this.#switches(point)
          return next()
        },
        ['power'],
      ),
      attachTo(probe, (point, next) => next().catch((error: unknown) => this.#refused(point, error)), ['bmc']),
      events.listen((event) => {
        if (event.kind === 'first-boot') this.#installed.set(event.machine, this.#boots.length)
      }),
    ]
  }

  /** Names this moment for {@link rebootsSince} and {@link mostAwaySince}. */
  mark(name: string): void {
    this.#marks.set(name, { boots: this.#boots.length, changes: this.#changes.length })
  }

  /** Boots of a machine into its system or into a deploy image, since a named moment or after its first boot. */
  rebootsSince(machine: string, since: string, into: 'disk' | 'ramdisk'): number {
    const isInstallation = since === 'installation'
    const from = isInstallation ? this.#installed.get(machine) : this.#marks.get(since)?.boots
    const boots = this.#boots
      .slice(from ?? 0)
      .filter((boot) => boot.machine === machine && boot.outcome === into).length
    return isInstallation ? boots - 1 : boots
  }

  /** Boots since a named moment, in their order. */
  bootsSince(since: string): readonly MeasuredBoot[] {
    return this.#boots.slice(this.#marks.get(since)?.boots ?? 0)
  }

  /** The most of some nodes that were away at once since a named moment. */
  mostAwaySince(machines: readonly string[], since: string): number {
    const away = new Set<string>()
    const from = this.#marks.get(since)?.changes ?? 0
    let most = 0
    for (const [index, { machine, isUp }] of this.#changes.entries()) {
      if (!machines.includes(machine)) continue
      if (isUp) away.delete(machine)
      else away.add(machine)
      if (index >= from) most = Math.max(most, away.size)
    }
    return most
  }

  /** The most machines that booted over the network at once. */
  get mostNetworkBoots(): number {
    const during = (time: number): number =>
      this.#networkBoots.filter(({ from, to }) => from <= time && time < to).length
    return Math.max(0, ...this.#networkBoots.map(({ from }) => during(from)))
  }

  /** @param node its id in Ironic */
  refusedLogins(node: string): number {
    return this.#refusals.get(node) ?? 0
  }

  /** Nodes that went down while workloads could run on them. */
  get cutOff(): readonly string[] {
    return this.#cutOff
  }

  #booted({ machine: name, outcome }: BootPoint): void {
    this.#boots.push({ machine: name, outcome, at: this.#parts.clock.now() })
    const machine = this.#parts.machines.get(name)
    const from = this.#switchedOn.get(name)
    if (from !== undefined && machine?.boot()?.source.kind === 'pxe')
      this.#networkBoots.push({ from, to: this.#parts.clock.now() })
    this.#switchedOn.delete(name)
    if (machine && isNode(machine)) this.#changes.push({ machine: name, isUp: true })
  }

  /** Before power goes, and once it is there. */
  async #switches(point: PowerPoint | PowerRequestPoint): Promise<void> {
    const { machines, clock, kube } = this.#parts
    if ('power' in point && point.power === 'on') this.#switchedOn.set(point.machine, clock.now())
    const machine = machines.get(point.machine)
    if (!machine || !('target' in point) || point.target === 'on' || !isNode(machine)) return
    this.#changes.push({ machine: point.machine, isUp: false })
    const node = await kube.find('Node', { name: nodeNameOf(machine) })
    if (node && node.spec?.unschedulable !== true) this.#cutOff.push(node.metadata.name)
  }

  #refused({ node }: PointOf<'bmc'>, error: unknown): never {
    if (node !== undefined && error instanceof BmcError && error.why === 'unauthorized')
      this.#refusals.set(node, this.refusedLogins(node) + 1)
    throw error
  }

  [Symbol.dispose](): void {
    for (const each of this.#attached) each[Symbol.dispose]()
  }
}

/** True if a machine runs an installed system whose kubelet may start. */
const isNode = (machine: Machine): boolean =>
  machine.boot()?.outcome === 'disk' && machine.os()?.kubelet === 'may start'
