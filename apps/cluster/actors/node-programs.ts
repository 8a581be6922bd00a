import { errorChain, seconds, type Probe } from '../../../base/runtime/index.js'
import type {
  BootPoint,
  Machine,
  Machines,
  NodeImagePoint,
  PowerPoint,
  PowerRequestPoint,
} from '../../../machine/index.js'
import type { ActorParts } from './actor.js'
import { markUnknown, nodeNameOf, registerNode } from './kubelet.js'
import { runMachineConfigDaemon } from './machine-config-operator/daemon/machine-config-daemon.js'

/** Time that a kubelet may be silent (kube-controller-manager's --node-monitor-grace-period of OpenShift 4). */
const NODE_MONITOR_TIMEOUT = seconds(40)

export interface NodeProgramsParts extends ActorParts {
  machines: Machines
  /** Tells of boots and of power. */
  probe: Probe
}

interface ProgramRun {
  boot: string
  name: string
  ending: AbortController
  done: Promise<void>
}

/**
 * The cluster's programs on the computers: on each whose installed system may start its kubelet the kubelet and the
 * machine config daemon, from the end of its boot to the loss of power.
 */
export function runNodePrograms(parts: NodeProgramsParts): AsyncDisposable {
  const { machines, probe, clock, logger } = parts
  const runs = new Map<string, ProgramRun>()
  const silences = new Map<string, AbortController>()
  const waits = new Set<Promise<void>>()

  const look = (machine: Machine): void => {
    const id = machine.spec.id
    const boot = machine.boot()
    const mayRun = boot?.outcome === 'disk' && machine.os()?.kubelet === 'may start'
    const run = runs.get(id)
    if (run && (!mayRun || run.boot !== boot.id)) {
      runs.delete(id)
      run.ending.abort()
      awaitKubelet(run.name)
    }
    if (mayRun && !runs.has(id)) start(machine, boot.id)
  }

  const start = (machine: Machine, boot: string): void => {
    const ending = new AbortController()
    const name = nodeNameOf(machine)
    silences.get(name)?.abort()
    const done = (async () => {
      const node = await registerNode(machine, parts)
      if (!ending.signal.aborted) await runMachineConfigDaemon({ ...parts, machine, node }, ending.signal)
    })().catch((error: unknown) => {
      if (!ending.signal.aborted)
        logger('error', `the programs of ${name} have failed: ${errorChain(error).join(': ')}`, { error })
    })
    runs.set(machine.spec.id, { boot, name, ending, done })
    waits.add(done)
    void done.finally(() => waits.delete(done))
  }

  const awaitKubelet = (name: string): void => {
    const silence = new AbortController()
    silences.set(name, silence)
    const { signal } = silence
    const waiting = (async () => {
      await clock.sleep(NODE_MONITOR_TIMEOUT, { signal }).catch(() => {})
      if (!signal.aborted) await markUnknown(name, parts)
    })().catch((error: unknown) => logger('error', `the state of ${name} cannot be written`, { error }))
    waits.add(waiting)
    void waiting.finally(() => waits.delete(waiting))
  }

  const attached = probe.attach<BootPoint | PowerPoint | PowerRequestPoint | NodeImagePoint>(
    (point, next) =>
      next().finally(() => {
        const machine = machines.get(point.machine)
        if (machine) look(machine)
      }),
    ['boot', 'power', 'node-image'],
  )
  for (const machine of machines.list()) look(machine)

  return {
    [Symbol.asyncDispose]: async () => {
      attached[Symbol.dispose]()
      for (const { ending } of runs.values()) ending.abort()
      for (const silence of silences.values()) silence.abort()
      await Promise.all(waits)
    },
  }
}
