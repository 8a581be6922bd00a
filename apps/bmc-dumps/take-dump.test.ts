import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isObject, silent, systemClock } from '../../base/runtime/index.js'
import { serveHttp } from '../../base/wire/index.js'
import { BMC_DIALECTS, isDialectName } from '../../bmc/dialects/index.js'
import { defaultMachineSpec, withHardware } from '../../machine/index.js'
import { ADMIN, served, type Served } from '../../test/kit/redfish/served.js'
import { dumpFolder, importedFace } from '../../test/kit/bmc-dumps/dumped-faces.js'
import { takeDump, writeTaken, type TakeDumpOptions, type TakenDump } from './take-dump.js'

const names = Object.keys(BMC_DIALECTS).filter(isDialectName)

/** The BMC of a machine at an address. */
async function addressOf(bmc: Served): Promise<string> {
  const server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock: systemClock() })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

const taken = (url: string, more: Partial<TakeDumpOptions> = {}): Promise<TakenDump> =>
  takeDump({
    url,
    ...ADMIN,
    clock: systemClock(),
    logger: silent,
    signal: new AbortController().signal,
    pause: 0,
    ...more,
  })

/** A dump of a BMC, written. */
async function writtenDump(bmc: Served): Promise<{ folder: string; dump: TakenDump }> {
  const dump = await taken(await addressOf(bmc))
  const folder = join(await dumpFolder(), 'dump')
  await writeTaken(dump, folder)
  return { folder, dump }
}

/** Properties whose values are of a moment, or of the service. */
const OF_A_MOMENT =
  /^(@odata\.etag|DateTime|DateTimeLocalOffset|UUID|ServiceEntryPointUUID|Members|Members@odata\.count)$/

function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (OF_A_MOMENT.test(name) ? [] : [[name, lasting(inner)]])),
  )
}

describe.each(names)('a dump of the BMC %s', (dialect) => {
  test('makes a machine whose BMC answers alike', async () => {
    const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
    await using bmc = await served(1, {}, { dialect, manufacturer, product })
    const { folder, dump } = await writtenDump(bmc)
    expect(dump.unread).toEqual([])
    const { hardware, imported } = await importedFace(folder, { keepsIdentities: true })
    await using twin = await served(1, {}, withHardware(defaultMachineSpec(1), hardware))
    expect(twin.machine().spec.nics.map(({ mac }) => mac)).toEqual(
      imported.record.base === 'nvidia-gb200' ? expect.any(Array) : bmc.machine().spec.nics.map(({ mac }) => mac),
    )
    for (const { path } of imported.dump.resources()) {
      const [own, other] = await Promise.all([bmc.call('GET', path), twin.call('GET', path)])
      expect({ path, status: other.status }).toEqual({ path, status: own.status })
      expect({ path, document: lasting(other.document) }).toEqual({ path, document: lasting(own.document) })
    }
  })
})
