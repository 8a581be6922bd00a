import type { LiveUrls } from '../../coreos/index.js'
import { readFleet, type HardwareFleet } from '../../machine/index.js'
import { defined, UserError } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { BmcAccount, ControlHandler, ControlOperationId, EnrollRequest } from '../../control/index.js'
import { ERRORS } from '../errors.js'
import { installedFiles } from '../installed-files.js'
import type { ControlSubjects, SubjectParts } from './control-subjects.js'
import { ejectMedia, pressPower } from './machine-handlers.js'
import { machineReport } from './machine-report.js'

/** Nodes that a caller adds to a lab. */
export interface WantedNodes {
  readonly count: number
  /** Beginning of their names. */
  readonly prefix: string
  readonly hardware?: HardwareFleet
  /** Decides the identities of nodes and machines; default: they follow from the machines' numbers. */
  readonly seed?: number
}

export interface NodeChangeParts {
  nodes: () => Iterable<Readonly<NodeRecord>>
  enroll: (wanted: WantedNodes) => Promise<Readonly<NodeRecord>[]>
  removeNode: (node: Readonly<NodeRecord>) => Promise<void>
  /** The live images that are served for a node. */
  images: (node: Readonly<NodeRecord>) => LiveUrls | undefined
  /** Changes the account of a node's BMC; false when the node has no BMC. */
  setBmcAccount: (node: Readonly<NodeRecord>, account: BmcAccount) => boolean
}

/** The calls that show and change nodes, and the machines behind them. */
export function nodeHandlers(parts: NodeChangeParts & Pick<SubjectParts, 'waitsFor'>, subjects: ControlSubjects) {
  return {
    nodes: () => ({ nodes: [...parts.nodes()].map((node) => subjects.shown(node)) }),
    enroll: async ({ body }) => {
      const { count = 1, prefix = 'node-', hardware: document, seed } = body as EnrollRequest
      const hardware = document === undefined ? undefined : readFleet(document, 'the hardware')
      const added = await parts.enroll({ count, prefix, ...defined({ hardware, seed }) })
      return { nodes: added.map((node) => subjects.shown(node)) }
    },
    node: (call) => subjects.shown(subjects.nodeOf(call)),
    removeNode: (call) => parts.removeNode(subjects.nodeOf(call)),
    machineOfNode: async (call) => ({
      ...(await machineReport(subjects.machineOfNode(call))),
      waitsFor: parts.waitsFor(subjects.nodeOf(call)),
    }),
    powerOfNode: (call) => pressPower(subjects.machineOfNode(call), call.body),
    ejectFromNode: (call) => ejectMedia(subjects.machineOfNode(call)),
    console: (call) => ({ console: subjects.machineOfNode(call).console() }),
    systemJournal: (call) => ({ journal: subjects.machineOfNode(call).journal() }),
    files: (call) => {
      const machine = subjects.machineOfNode(call)
      const path = call.query['path'] ?? null
      const system = machine.rootFiles()
      if (!system)
        throw new UserError('no-system', `${machine.spec.id} has no system that was booted`, {
          remedy: ERRORS['no-system'].remedy,
        })
      const files = installedFiles(system, path)
      if (files) return { files }
      throw new UserError('no-such-file', `there is no ${path} on ${machine.spec.id}`, {
        remedy: 'leave out path for a list of all files',
      })
    },
    images: (call) => {
      const node = subjects.nodeOf(call)
      const urls = parts.images(node)
      if (urls) return urls
      throw new UserError('no-live-image', `no live image is served for node ${node.name ?? node.uuid}`, {
        remedy: ERRORS['no-live-image'].remedy,
      })
    },
    bmcAccount: (call) => {
      const node = subjects.nodeOf(call)
      if (parts.setBmcAccount(node, call.body as BmcAccount)) return
      throw new UserError('no-bmc', `node ${node.name ?? node.uuid} names no BMC`, {
        remedy: "name one in the node's driver_info",
      })
    },
  } satisfies Partial<Record<ControlOperationId, ControlHandler>>
}
