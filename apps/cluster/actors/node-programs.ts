import { errorChain, seconds, type Probe } from '../../../base/runtime/index.js'
import type {
  BootPoint,
  Machine,
  Machines,
  NodeImagePoint,
  PowerPoint,
  PowerRequestPoint,
} from '../../../machine/index.js'
import type { ActorParts } from '../../../base/kubernetes/index.js'
import { markUnknown, nodeNameOf, registerNode } from './kubelet.js'
import type { InternalRegistry } from '../site/internal-registry.js'
import { reportNodeRegistry } from './machine-config-operator/internal-release/node-registry.js'
import { runMachineConfigDaemon } from './machine-config-operator/daemon/machine-config-daemon.js'

/** Time that a kubelet may be silent (kube-controller-manager's --node-monitor-grace-period of OpenShift 4). */
const NODE_MONITOR_TIMEOUT = seconds(40)

export interface NodeProgramsParts extends ActorParts {
  machines: Machines
  /** Tells of boots and of power. */
  probe: Probe
  /** The registry of the control plane, in a cluster that was installed without another one. */
  internalRegistry?: InternalRegistry
  /** Runs the machine config daemon of a node until a signal ends it; default: as it is. */
  runDaemon?: (run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>
}

interface ProgramRun {
  boot: string
  name: string
  ending: AbortController
}

/**
 * The cluster's programs on the computers: on each whose installed system may start its kubelet the kubelet and the
 * machine config daemon, from the end of its boot to the loss of power.
 */
export function runNodePrograms(parts: NodeProgramsParts): AsyncDisposable {
  const { machines, probe } = parts
  const programs = new NodePrograms(parts)
  const attached = probe.attach<BootPoint | PowerPoint | PowerRequestPoint | NodeImagePoint>(
    (point, next) =>
      next().finally(() => {
        const machine = machines.get(point.machine)
        if (machine) programs.observe(machine)
      }),
    ['boot', 'power', 'node-image'],
  )
  for (const machine of machines.list()) programs.observe(machine)
  return {
    [Symbol.asyncDispose]: async () => {
      attached[Symbol.dispose]()
      await programs.stop()
    },
  }
}

class NodePrograms {
  readonly #parts: NodeProgramsParts
  /** Programs that run, by machine. */
  readonly #runs = new Map<string, ProgramRun>()
  /** Waits of the node monitor for a kubelet, by node. */
  readonly #silences = new Map<string, AbortController>()
  readonly #pending = new Set<Promise<void>>()

  constructor(parts: NodeProgramsParts) {
    this.#parts = parts
  }

  /** Starts or ends the programs of a machine whose boot or power may have changed. */
  observe(machine: Machine): void {
    const id = machine.spec.id
    const boot = machine.boot()
    const mayRun = boot?.outcome === 'disk' && machine.os()?.kubelet === 'may start'
    const run = this.#runs.get(id)
    if (run && (!mayRun || run.boot !== boot.id)) {
      this.#runs.delete(id)
      run.ending.abort()
      this.#awaitKubelet(run.name)
    }
    if (mayRun && !this.#runs.has(id)) this.#start(machine, boot.id)
  }

  async stop(): Promise<void> {
    for (const { ending } of this.#runs.values()) ending.abort()
    for (const silence of this.#silences.values()) silence.abort()
    await Promise.all(this.#pending)
  }

  #start(machine: Machine, boot: string): void {
    const parts = this.#parts
    const { logger } = parts
    const ending = new AbortController()
    const name = nodeNameOf(machine)
    this.#silences.get(name)?.abort()
    const done = (async () => {
      const node = await registerNode(machine, this.#parts)
      const runDaemon = async (until: AbortSignal): Promise<void> => {
        const daemon = { ...parts, machine, node }
        const { internalRegistry: registry } = parts
        const reporting = registry ? reportNodeRegistry({ ...daemon, registry }, until) : Promise.resolve()
        await Promise.all([runMachineConfigDaemon(daemon, until), reporting])
      }
      if (!ending.signal.aborted) await (parts.runDaemon?.(runDaemon, ending.signal) ?? runDaemon(ending.signal))
    })().catch((error: unknown) => {
      if (!ending.signal.aborted)
        logger('error', `the programs of ${name} have failed: ${errorChain(error).join(': ')}`, { error })
    })
    this.#runs.set(machine.spec.id, { boot, name, ending })
    this.#keep(done)
  }

  /** Marks a node as unknown, unless its kubelet comes back in time. */
  #awaitKubelet(name: string): void {
    const { clock, logger } = this.#parts
    const silence = new AbortController()
    this.#silences.set(name, silence)
    const { signal } = silence
    const waiting = (async () => {
      await clock.sleep(NODE_MONITOR_TIMEOUT, { signal }).catch(() => {})
      if (!signal.aborted) await markUnknown(name, this.#parts)
    })().catch((error: unknown) => logger('error', `the state of ${name} cannot be written`, { error }))
    this.#keep(waiting)
  }

  #keep(work: Promise<void>): void {
    this.#pending.add(work)
    void work.finally(() => this.#pending.delete(work))
  }
}
