import type { Machine, Machines } from '../machine/index.js'
import type { Dispatch, WireResponse } from '../wire/index.js'

/** What belongs to the lab and not to Ironic; no path of Ironic's begins so. */
export const LAB_PREFIX = '/_lab'

/** A machine as `GET /_lab/machines` shows it. */
export interface LabMachine {
  id: string
  bmc: { address: string; systemId: string } | null
  power: 'on' | 'off'
  boot: { id: string; outcome: string } | null
  disks: { name: string; size: number; file: string | null }[]
  firstBoot: ReturnType<Machine['firstBoot']> | null
}

/** Ironic's API with the lab's own read-only view of the machines beside it. */
export function labApi({ api, machines }: { api: Dispatch; machines: Machines }): Dispatch {
  return async (request) => {
    const path = request.target.replace(/\?.*$/, '').replace(/\/+$/, '')
    if (path !== LAB_PREFIX && !path.startsWith(`${LAB_PREFIX}/`)) return api(request)
    if (path !== `${LAB_PREFIX}/machines`)
      return json(404, { error: `there is no ${path}`, known: [`${LAB_PREFIX}/machines`] })
    if (request.method !== 'GET') return json(405, { error: `${request.method} is not allowed here` })
    return json(200, { machines: await Promise.all(machines.list().map(shown)) })
  }
}

async function shown(machine: Machine): Promise<LabMachine> {
  const { spec } = machine
  const boot = machine.boot()
  return {
    id: spec.id,
    bmc: spec.bmc && { address: spec.bmc.address, systemId: spec.bmc.systemId },
    power: machine.power(),
    boot: boot ? { id: boot.id, outcome: boot.outcome } : null,
    disks: await Promise.all(
      spec.disks.map(async ({ name, size }) => ({ name, size, file: (await machine.diskFile(name)) ?? null })),
    ),
    firstBoot: machine.firstBoot() ?? null,
  }
}

const json = (status: number, body: unknown): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
