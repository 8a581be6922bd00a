import type { Machine, Machines } from '../../machine/index.js'
import { defined, unlessAborted, UserError } from '../../base/runtime/index.js'
import type { Dispatch, Transport, WireRequest, WireResponse } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import type { LabFaults } from '../../control/index.js'
import type { IronicProcess, StagedIronic } from '../stage/ironic-process.js'
import type { SimulatedRegistry } from '../stage/stage-registry.js'
import type { ServerName, Input } from './lab-input.js'
import type { Inputs, PerformInput } from './inputs.js'

/** How callers reach the API. */
export interface Transports {
  client: Transport
  transport: Transport
}

interface Performers {
  /** Reach the API without passing {@link Inputs}. */
  transports: Transports
  /** Serves a request without passing {@link Inputs}. */
  serve: (door: ServerName, request: WireRequest) => Promise<WireResponse>
  machines: Machines
  faults: LabFaults
  registry: SimulatedRegistry
  accounts: BmcAccounts
  ironic: StagedIronic
  enroll: (input: Input & { do: 'enroll' }) => Promise<string>
}

/** Performs inputs on the parts of a stage, the first time and each time that they are repeated. */
export function makePerformer(parts: Performers): PerformInput {
  const machine = (id: string): Machine => {
    const found = parts.machines.get(id)
    if (!found) throw new UserError('machine-removed', `machine ${id} no longer exists`)
    return found
  }
  return (input) => {
    switch (input.do) {
      case 'request':
        return parts.transports[input.from].send(input.request)
      case 'serve':
        return parts.serve(input.door, input.request)
      case 'enroll':
        return parts.enroll(input)
      case 'machine':
        return callAsync(() => called(machine(input.machine), input.call, input.args))
      case 'firmware':
        return callAsync(() => called(machine(input.machine).firmware, input.call, input.args))
      case 'add machine':
        return parts.machines.create(input.spec, input.source)
      case 'remove machine':
        return parts.machines.remove(input.machine)
      case 'command':
        return callAsync(() => machine(input.machine).executor.start(input.command))
      case 'files':
        return callAsync(() => called(machine(input.machine).executor.files, input.call, input.args))
      case 'stop Ironic':
        return parts.ironic.stop(input)
      case 'start Ironic':
        return parts.ironic.start()
      case 'add fault':
        return parts.faults.add(input.fault)
      case 'lift fault':
        return parts.faults.lift(input.id)
      case 'publish':
        return parts.registry.publish(input.image)
      case 'fail pulls':
        return parts.registry.fail(input.image, input.fault, input.times)
      case 'account':
        return parts.accounts.set(input.address, input.account)
    }
  }
}

/** Rejects with what the call throws. */
const callAsync = async (call: () => unknown): Promise<unknown> => call()

const called = (object: object, name: string, args: readonly unknown[]): unknown =>
  (object as Record<string, (...args: readonly unknown[]) => unknown>)[name]!(...args)

/** Calls of a machine that change it. */
const MACHINE_CALLS = new Set(['setPower', 'setBoot', 'save', 'setCarrier', 'swapDisk'])

/** The machine that a caller of the lab gets: calls that change it or that reach the probe are recorded as inputs. */
export function enteringMachine(machine: Machine, inputs: Inputs): Machine {
  const { id } = machine.spec
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      inputs.call({ do: 'machine', machine: id, call: name, args })
  const file =
    (name: string) =>
    (...args: unknown[]) =>
      inputs.call({ do: 'files', machine: id, call: name, args })
  const executor = {
    start: (command) => inputs.call({ do: 'command', machine: id, command }),
    attach: (run, offset) => machine.executor.attach(run, offset),
    files: {
      read: file('read'),
      write: file('write'),
      remove: file('remove'),
      exists: file('exists'),
      list: file('list'),
    },
  } as Machine['executor']
  const firmware = new Proxy(machine.firmware, {
    get(target, key) {
      if (key === 'eject') return (...args: unknown[]) => inputs.call({ do: 'firmware', machine: id, call: key, args })
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const own: Partial<Record<PropertyKey, unknown>> = { executor, firmware, target: { ...machine.target, executor } }
  for (const name of MACHINE_CALLS) own[name] = call(name)
  return new Proxy(machine, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return own[key]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (own[key] = value.bind(target) as unknown) : value
    },
  })
}

/** Machines for the control API, which are there before {@link Inputs}. */
export function enteringMachines(machines: Machines, inputs: () => Inputs | undefined): Machines {
  const entering = <M extends Machine | undefined>(machine: M): M => {
    const known = inputs()
    return machine && known ? (enteringMachine(machine, known) as M) : machine
  }
  return {
    snapshots: machines.snapshots,
    create: async (spec, source) => {
      const input = { do: 'add machine', spec, ...defined({ source }) } as const
      return entering(await (inputs()?.call<Machine>(input) ?? machines.create(spec, source)))
    },
    remove: (id) => inputs()?.call({ do: 'remove machine', machine: id }) ?? machines.remove(id),
    get: (id) => entering(machines.get(id)),
    byBmc: (address, systemId) => entering(machines.byBmc(address, systemId)),
    list: () => machines.list().map(entering),
    [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose](),
  }
}

/** The Ironic that callers stop and start. */
export const enteringIronic = (ironic: StagedIronic, inputs: Inputs | undefined): IronicProcess => ({
  get isRunning() {
    return ironic.isRunning
  },
  stop: (how) => inputs?.call({ do: 'stop Ironic', keepsDatabase: how.keepsDatabase }) ?? ironic.stop(how),
  start: () => inputs?.call({ do: 'start Ironic' }) ?? ironic.start(),
})

/** Transports whose requests to the API enter as inputs. What the lab's own paths do enters by itself. */
export function enteringTransports(transports: Transports, url: string, inputs: Inputs): Transports {
  const entering = (from: keyof Transports): Transport => ({
    send: (request) => {
      const { signal, ...data } = request
      const isInput =
        inputs.isOn && request.url.startsWith(url) && !isOfLab(request.url.slice(url.length)) && !signal?.aborted
      if (!isInput) return transports[from].send(request)
      const answer = inputs.call<WireResponse>({ do: 'request', from, request: data })
      return signal ? unlessAborted(answer, signal) : answer
    },
  })
  return { client: entering('client'), transport: entering('transport') }
}

/** Serves requests as inputs, other than those to the lab's own paths. */
export const enteringDispatch =
  (dispatch: Dispatch, inputs: Inputs): Dispatch =>
  (request) =>
    isOfLab(request.target) ? dispatch(request) : inputs.call({ do: 'serve', door: 'api', request })

/** True if a path is of the lab, not of its Ironic. What such calls do enters by itself. */
export const isOfLab = (target: string): boolean => /^\/(_lab|metrics)\b/.test(target)
