import type { DiskDrawing, MachineReport } from '../../../control/index.js'
import { useFollowed, type FollowedSubject } from '../parts/followed.js'
import { rows, rowsVersion } from '../state/lab-state.js'
import { formatRoute } from '../state/page-route.js'
import { MachineBmc } from './machine-bmc.js'
import { MachineConsole } from './machine-console.js'
import { MachineDisks } from './machine-disks.js'
import { MachineFiles } from './machine-files.js'
import { MachineHardware, MachinePower } from './machine-hardware.js'
import { MachineIgnition } from './machine-ignition.js'

interface Seen {
  readonly machine: MachineReport
  readonly disks: readonly DiskDrawing[]
}

const MACHINE_SUBJECT: FollowedSubject<Seen> = {
  read: async (client, id) => {
    const [machine, { disks }] = await Promise.all([client.machine(id), client.disks(id)])
    return { machine, disks }
  },
  entriesOf: (machine) => ({ machine }),
  soon: 400,
}

/** A machine from inside: power, firmware, NICs, disks, files, Ignition, console. */
export function MachineView({ ident }: { ident: string | null }) {
  void rowsVersion.value
  const { value: seen, problem } = useFollowed(ident, MACHINE_SUBJECT)
  const node = rows.list().find(({ machine, isNode }) => isNode && machine === ident)
  if (!seen)
    return (
      <p class="empty">
        {problem ?? 'Loading …'} <a href="#/fleet">The fleet</a> lists all machines.
      </p>
    )
  const { machine, disks } = seen
  return (
    <>
      <p class="path">
        <a href="#/fleet">Fleet</a> <span class="quiet">/</span>{' '}
        {node && (
          <>
            <a href={formatRoute({ view: 'nodes', ident: node.name })}>{node.name}</a> <span class="quiet">/</span>{' '}
          </>
        )}
        machine {machine.id}
      </p>
      {problem !== null && <p class="error-text">{problem}</p>}
      <MachinePower machine={machine} state={node?.state ?? null} />
      <MachineHardware machine={machine} />
      <MachineBmc machine={machine} node={node?.name ?? null} />
      <MachineDisks disks={disks} />
      <MachineFiles machine={machine} disks={disks} />
      <MachineIgnition machine={machine} />
      <MachineConsole id={machine.id} />
    </>
  )
}
