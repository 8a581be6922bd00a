import { useEffect, useState } from 'preact/hooks'
import type { DiskDrawing, MachineReport } from '../../lab/index.js'
import { atMostEvery } from '../browser.js'
import { lab, link, sentenceOf } from '../state/connection.js'
import { rows, rowsVersion } from '../state/lab-state.js'
import { hashOf } from '../state/route.js'
import { MachineConsole } from './machine-console.js'
import { MachineDisks } from './machine-disks.js'
import { MachineFiles } from './machine-files.js'
import { MachineHardware, MachinePower } from './machine-hardware.js'
import { MachineIgnition } from './machine-ignition.js'

interface Seen {
  readonly machine: MachineReport
  readonly disks: readonly DiskDrawing[]
}

/** Time between two looks at a machine that changes. */
const SOON = 400

/** A machine from inside: power, firmware, NICs, disks, files, Ignition, console. */
export function MachineView({ ident }: { ident: string | null }) {
  void rowsVersion.value
  const [seen, setSeen] = useState<Seen | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isLive = link.value.kind === 'live'
  useEffect(() => {
    if (ident === null || !isLive) return undefined
    const controller = new AbortController()
    void follow(ident, controller.signal, setSeen, setProblem)
    return () => controller.abort()
  }, [ident, isLive])
  const node = rows.list().find(({ machine, isNode }) => isNode && machine === ident)
  if (!seen)
    return (
      <p class="empty">
        {problem ?? 'Asking the lab …'} <a href="#/fleet">The fleet</a> lists all machines.
      </p>
    )
  const { machine, disks } = seen
  return (
    <>
      <p class="path">
        <a href="#/fleet">Fleet</a> <span class="quiet">/</span>{' '}
        {node && (
          <>
            <a href={hashOf({ view: 'nodes', ident: node.name })}>{node.name}</a> <span class="quiet">/</span>{' '}
          </>
        )}
        machine {machine.id}
      </p>
      {problem !== null && <p class="error-text">{problem}</p>}
      <MachinePower machine={machine} state={node?.state ?? null} />
      <MachineHardware machine={machine} />
      <MachineDisks disks={disks} />
      <MachineFiles machine={machine} disks={disks} />
      <MachineIgnition machine={machine} />
      <MachineConsole id={machine.id} />
    </>
  )
}

/** Looks at a machine, and again whenever something happens to it. */
async function follow(
  id: string,
  signal: AbortSignal,
  show: (seen: Seen) => void,
  fail: (problem: string | null) => void,
): Promise<void> {
  const read = async (): Promise<void> => {
    try {
      const client = lab(signal)
      const [machine, { disks }] = await Promise.all([client.machine(id), client.disks(id)])
      show({ machine, disks })
      fail(null)
    } catch (error) {
      if (!signal.aborted) fail(sentenceOf(error))
    }
  }
  await read()
  const soon = atMostEvery(SOON, () => void (signal.aborted || read()))
  try {
    for await (const _ of lab(signal).events({ machine: id })) soon()
  } catch {
    // The page says that the server is lost, and begins again when it is back.
  }
}
