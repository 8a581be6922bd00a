import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { makeNodeRecord, newPort } from '../../ironic-mock/conductor/records/new-records.js'
import { chooseInterfaces, hardwareType } from '../../ironic-mock/drivers/hardware-types.js'
import { openStore } from '../../ironic-mock/store/open-store.js'
import type { NewResource } from '../../ironic-mock/store/store.js'
import { VirtualClock, type Clock } from '../../base/runtime/index.js'
import type { NodeRecord, PortRecord } from '../../base/wire/index.js'

/** When every record below was made. */
export const AT = '2026-01-01T00:00:00.000000'

/** A store in memory, or in a file. */
export const open = (path?: string, clock: Clock = new VirtualClock()): ReturnType<typeof openStore> =>
  openStore({ path, clock })

export function node(uuid: string, more: Partial<NodeRecord> = {}): Omit<NodeRecord, 'id'> {
  const fields = { driver: 'fake-hardware', ...more }
  return { ...makeNodeRecord(fields, chooseInterfaces(hardwareType('fake-hardware', ''), {}), AT, uuid), ...more }
}

export const port = (address: string, node_uuid: string, uuid = `port-${address}`): Omit<PortRecord, 'id'> =>
  newPort({ node_uuid, address }, 1, AT, uuid)

export const portgroup = (uuid: string, node_uuid: string, more: Partial<NewResource<'portgroup'>> = {}) => ({
  uuid,
  node_uuid,
  node_id: 1,
  name: null,
  address: null,
  extra: {},
  internal_info: {},
  standalone_ports_supported: true,
  mode: 'active-backup',
  properties: {},
  physical_network: null,
  category: null,
  dynamic_portgroup: false,
  created_at: AT,
  updated_at: null,
  ...more,
})

export const chassis = (uuid: string) => ({ uuid, description: null, extra: {}, created_at: AT, updated_at: null })

/** A folder for the databases of a test file, removed after it; gives the path of a new database. */
export function databaseFiles(): { folder: () => string; file: () => string } {
  let folder: string
  let files = 0
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'ironstage-store-'))))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return { folder: () => folder, file: () => join(folder, `${++files}.db`) }
}
