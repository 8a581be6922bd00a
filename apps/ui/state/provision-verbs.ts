import type { IronicCall } from './page-connection.js'
import type { FleetRow } from './fleet-rows.js'

/** Something that can be asked of a node. */
export interface NodeVerb {
  readonly id: string
  readonly title: string
  /** One sentence. */
  readonly does: string
  /** Asks before it acts: data is lost. */
  readonly destroys?: boolean
  readonly call: (row: FleetRow) => IronicCall
  /** Whether it fits a node's state. */
  readonly fits: (row: FleetRow) => boolean
}

const nodePathTo = (row: FleetRow, rest: string): string => `/v1/nodes/${row.id}/${rest}`

const provision =
  (target: string, more: Readonly<Record<string, unknown>> = {}) =>
  (row: FleetRow): IronicCall => ({
    method: 'PUT',
    path: nodePathTo(row, 'states/provision'),
    body: { target, ...more },
  })

const power =
  (target: string) =>
  (row: FleetRow): IronicCall =>
    row.isNode
      ? { method: 'PUT', path: nodePathTo(row, 'states/power'), body: { target } }
      : {
          method: 'PUT',
          path: `/_lab/machines/${encodeURIComponent(row.id)}/power`,
          body: { power: LAB_POWER[target] },
        }

const LAB_POWER: Readonly<Record<string, string>> = { 'power on': 'on', 'power off': 'off', rebooting: 'reboot' }

const INSTALL = [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }]

const inStates =
  (...states: string[]) =>
  ({ state, isNode }: FleetRow): boolean =>
    isNode && states.includes(state)

const anyNode = ({ isNode }: FleetRow): boolean => isNode

/** In the order in which a node's life goes. */
export const NODE_VERBS: readonly NodeVerb[] = [
  {
    id: 'manage',
    title: 'Manage',
    does: 'has Ironic verify the BMC, or takes the node back from available or a failure',
    call: provision('manage'),
    fits: inStates('enroll', 'available', 'inspect failed', 'clean failed', 'adopt failed'),
  },
  {
    id: 'inspect',
    title: 'Inspect',
    does: 'has the hardware looked at',
    call: provision('inspect'),
    fits: inStates('manageable', 'inspect failed'),
  },
  {
    id: 'provide',
    title: 'Provide',
    does: 'cleans the node and makes it available',
    call: provision('provide'),
    fits: inStates('manageable'),
  },
  {
    id: 'deploy',
    title: 'Deploy',
    does: 'deploys the node as its fields say',
    call: provision('active'),
    fits: inStates('available', 'deploy failed', 'error'),
  },
  {
    id: 'install',
    title: 'Install CoreOS',
    does: 'deploys the node by the step install_coreos',
    call: provision('active', { deploy_steps: INSTALL }),
    fits: inStates('available', 'deploy failed', 'error'),
  },
  {
    id: 'undeploy',
    title: 'Undeploy',
    does: 'tears the node down and cleans it: its disks are erased',
    destroys: true,
    call: provision('deleted'),
    fits: inStates('active', 'deploy failed', 'error', 'rescue', 'rescue failed', 'wait call-back'),
  },
  {
    id: 'adopt',
    title: 'Adopt',
    does: 'takes the node over again with what runs on it',
    call: provision('adopt'),
    fits: inStates('adopt failed'),
  },
  {
    id: 'unrescue',
    title: 'Unrescue',
    does: 'boots the node from its disk again',
    call: provision('unrescue'),
    fits: inStates('rescue', 'rescue failed', 'unrescue failed'),
  },
  {
    id: 'abort',
    title: 'Abort',
    does: 'ends what is under way',
    call: provision('abort'),
    fits: inStates(
      'clean wait',
      'inspect wait',
      'wait call-back',
      'rescue wait',
      'service wait',
      'clean hold',
      'deploy hold',
      'service hold',
      'service failed',
    ),
  },
  {
    id: 'power-on',
    title: 'Power on',
    does: 'switches the machine on',
    call: power('power on'),
    fits: ({ power: now }) => now !== 'power on',
  },
  {
    id: 'power-off',
    title: 'Power off',
    does: 'cuts the power of the machine',
    call: power('power off'),
    fits: ({ power: now }) => now !== 'power off',
  },
  {
    id: 'reboot',
    title: 'Reboot',
    does: 'starts the machine again',
    call: power('rebooting'),
    fits: ({ power: now }) => now === 'power on',
  },
  {
    id: 'maintenance-on',
    title: 'Maintenance on',
    does: 'keeps Ironic from working on the node',
    call: (row) => ({ method: 'PUT', path: nodePathTo(row, 'maintenance'), body: { reason: 'set in the dashboard' } }),
    fits: (row) => anyNode(row) && !row.isInMaintenance,
  },
  {
    id: 'maintenance-off',
    title: 'Maintenance off',
    does: 'lets Ironic work on the node again',
    call: (row) => ({ method: 'DELETE', path: nodePathTo(row, 'maintenance') }),
    fits: (row) => anyNode(row) && row.isInMaintenance,
  },
]

export const verbOf = (id: string): NodeVerb => NODE_VERBS.find((verb) => verb.id === id)!

/** Verbs that fit some of the rows, and how many. */
export function verbsFor(rows: readonly FleetRow[]): { verb: NodeVerb; count: number }[] {
  return NODE_VERBS.flatMap((verb) => {
    const count = rows.filter(verb.fits).length
    return count > 0 ? [{ verb, count }] : []
  })
}

/** Calls under way at once. */
const MAX_PARALLEL_VERBS = 4

/** Outcome of a verb over many rows. */
export interface VerbOutcome {
  readonly done: number
  /** Sentences of refusals with the names that they are of. */
  readonly refused: ReadonlyMap<string, readonly string[]>
}

/** Asks a verb of all rows that it fits. */
export async function askAll(
  verb: NodeVerb,
  rows: readonly FleetRow[],
  call: (call: IronicCall) => Promise<unknown>,
): Promise<VerbOutcome> {
  const waiting = rows.filter(verb.fits)
  const refused = new Map<string, string[]>()
  let done = 0
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row; row = waiting.shift())
      try {
        await call(verb.call(row))
        done++
      } catch (error) {
        const why = (error instanceof Error ? error.message : String(error)).replaceAll(row.id, 'NODE')
        refused.set(why, [...(refused.get(why) ?? []), row.name])
      }
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL_VERBS }, work))
  return { done, refused }
}

/** `38 of 40: Deploy. 2 refused: ... (node-3, node-7)` */
export function outcomeText(verb: NodeVerb, { done, refused }: VerbOutcome): string {
  const count = [...refused.values()].reduce((sum, names) => sum + names.length, 0)
  const refusals = [...refused].map(
    ([why, names]) => `${why} (${names.slice(0, 3).join(', ')}${names.length > 3 ? `, ${names.length - 3} more` : ''})`,
  )
  if (count === 0) return `${verb.title}: ${done} ${done === 1 ? 'machine was' : 'machines were'} asked.`
  return `${verb.title}: ${done} asked, ${count} refused: ${refusals.slice(0, 2).join('; ')}`
}
