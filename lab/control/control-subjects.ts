import type { Machine, Machines } from '../../machine/index.js'
import { UserError } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { ERRORS } from '../errors.js'
import type { ControlCall, NodeReport } from '../../control/index.js'

/** The parts of a lab that calls of the control API are about. */
export interface SubjectParts {
  machines: Machines
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
  machineOf: (node: Readonly<NodeRecord>) => Machine | undefined
  /** Known reason why a node's ramdisk cannot boot. */
  waitsFor: (node: Readonly<NodeRecord>) => string | null
}

/** Finds the node, or machine that a call names. */
export class ControlSubjects {
  readonly #parts: SubjectParts

  constructor(parts: SubjectParts) {
    this.#parts = parts
  }

  /** @throws UserError `no-such-node` for another name or uuid */
  node(ident: string): Readonly<NodeRecord> {
    const found = this.#parts.node(ident)
    if (found) return found
    throw new UserError('no-such-node', `there is no node ${ident}`, { remedy: ERRORS['no-such-node'].remedy })
  }

  /** @throws UserError `no-such-node` */
  nodeOf({ params }: ControlCall): Readonly<NodeRecord> {
    return this.node(params['node']!)
  }

  /** @throws UserError `no-such-node`; `no-such-machine` for a node without one */
  machineOfNode(call: ControlCall): Machine {
    const node = this.nodeOf(call)
    const machine = this.#parts.machineOf(node)
    if (machine) return machine
    throw new UserError('no-such-machine', `node ${node.name ?? node.uuid} has no machine yet`, {
      remedy: 'let Ironic power it on: its machine is made then',
    })
  }

  /** @throws UserError `no-such-machine` */
  machine({ params }: ControlCall): Machine {
    const found = this.#parts.machines.get(params['machine']!)
    if (found) return found
    throw new UserError('no-such-machine', `there is no machine ${params['machine']}`, {
      remedy: ERRORS['no-such-machine'].remedy,
    })
  }

  /** A node as answers show it. */
  shown(node: Readonly<NodeRecord>): NodeReport {
    return {
      name: node.name,
      uuid: node.uuid,
      machine: this.#parts.machineOf(node)?.spec.id ?? null,
      provision_state: node.provision_state,
      power_state: node.power_state,
      last_error: node.last_error,
      target: node.target_provision_state,
      since: node.provision_updated_at,
      step: stepOf(node),
      maintenance: node.maintenance,
      waitsFor: this.#parts.waitsFor(node),
    }
  }
}

/** The step that a node's flow is at. */
function stepOf({ deploy_step, clean_step, service_step }: Readonly<NodeRecord>): string | null {
  const step = [deploy_step, clean_step, service_step].find((candidate) => typeof candidate['step'] === 'string')
  return step ? `${String(step['interface'])}.${String(step['step'])}` : null
}
