import type { NodeRecord } from '../../base/wire/index.js'
import { machineIn, nodeIn } from '../faults/fault-points.js'
import type { LabPoint } from '../points.js'
import type { EntryHead } from '../../control/index.js'

/** Node and machine that an entry is about. */
export type EntrySubject = Pick<EntryHead, 'node' | 'name' | 'machine'>

export const NO_SUBJECT: EntrySubject = { node: null, name: null, machine: null }

interface SubjectSources {
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
  /** The node that a machine belongs to. */
  nodeOf: (machine: string) => Readonly<NodeRecord> | undefined
  machineOf: (node: Readonly<NodeRecord>) => string | undefined
}

/** Finds the nodes and machines that entries are about. */
export class EntrySubjects {
  readonly #sources: SubjectSources

  constructor(sources: SubjectSources) {
    this.#sources = sources
  }

  ofNode(record: Readonly<NodeRecord> | undefined, machine?: string): EntrySubject {
    return {
      node: record?.uuid ?? null,
      name: record?.name ?? null,
      machine: machine ?? (record && this.#sources.machineOf(record)) ?? null,
    }
  }

  named({ node = '', machine }: { node?: string; machine?: string }): EntrySubject {
    return this.ofNode(this.#sources.node(node), machine)
  }

  ofPoint(point: LabPoint): EntrySubject {
    const { node, nodeOf } = this.#sources
    if (point.kind === 'bmc' && point.node !== undefined) return this.ofNode(node(point.node))
    const named = nodeIn(point)
    const record = named === undefined ? undefined : node(named)
    const machine = machineIn(point)
    return this.ofNode(record ?? (machine === undefined ? undefined : nodeOf(machine)), machine)
  }

  /** The subject of a point that has ended: its node may be gone by now, and its machine made only now. */
  afterPoint(point: LabPoint, before: EntrySubject): EntrySubject {
    if (before.node !== null && before.machine !== null) return before
    const after = this.ofPoint(point)
    return {
      node: before.node ?? after.node,
      name: before.node === null ? after.name : before.name,
      machine: before.machine ?? after.machine,
    }
  }
}
