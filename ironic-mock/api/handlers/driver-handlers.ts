import {
  ironicErrors,
  SINCE,
  type DriverInterface,
  type JsonObject,
  type Microversion,
} from '../../../base/wire/index.js'
import type { IronicApiCall, HandlersOf } from '../call.js'
import type { Conductor, DriverDescription } from '../../conductor/core/conductor.js'

/** Order of a driver's interfaces in upstream's answer. */
const INTERFACE_ORDER: readonly DriverInterface[] = [
  'deploy',
  'storage',
  'rescue',
  'raid',
  'console',
  'inspect',
  'boot',
  'firmware',
  'vendor',
  'bios',
  'management',
  'power',
  'network',
]

/** Interfaces that were added after the details of drivers; older clients see all others. */
const LATER: Readonly<Partial<Record<DriverInterface, Microversion>>> = {
  storage: 33,
  rescue: 38,
  bios: 40,
  firmware: 86,
}

function showDriver(driver: DriverDescription, { version, links }: IronicApiCall<object>, detail: boolean): JsonObject {
  const path = `drivers/${driver.name}`
  const out: JsonObject = { name: driver.name, hosts: driver.hosts, links: links.pair(path) }
  if (version >= SINCE.subresourceLinks) out.properties = links.pair(`${path}/properties`)
  if (version < SINCE.driverDetail) return out
  out.type = driver.type
  if (detail)
    for (const kind of INTERFACE_ORDER) {
      if (version < (LATER[kind] ?? 1)) continue
      const enabled = driver.interfaces[kind]
      out[`default_${kind}_interface`] = enabled[0] ?? null
      out[`enabled_${kind}_interfaces`] = enabled
    }
  return out
}

function selectDriverFields(
  out: JsonObject,
  fields: readonly string[] | null | undefined,
  call: IronicApiCall<object>,
): JsonObject {
  if (!fields) return out
  if (call.version < SINCE.driverFields) throw ironicErrors.notAcceptable()
  const unknown = fields.filter((field) => !Object.hasOwn(out, field))
  if (unknown.length > 0) throw ironicErrors.unknownFields(unknown)
  return Object.fromEntries(Object.entries(out).filter(([name]) => fields.includes(name) || name === 'links'))
}

/** Drivers of the conductors that are alive. */
const activeDrivers = (conductor: Conductor): DriverDescription[] =>
  conductor.drivers().filter(({ hosts }) => hosts.length > 0)

function findDriver(drivers: readonly DriverDescription[], name: string): DriverDescription {
  const driver = drivers.find((each) => each.name === name)
  if (!driver) throw ironicErrors.driverNotFound(name)
  return driver
}

export const driverHandlers: HandlersOf<'drivers.list' | 'drivers.get' | 'drivers.properties'> = {
  'drivers.list': (call, { conductor }) => {
    const { type, detail, fields } = call.args
    if (call.version < SINCE.driverDetail && (type != null || detail != null)) throw ironicErrors.notAcceptable('1.30')
    if (type != null && type !== 'dynamic' && type !== 'classic') throw ironicErrors.driverType()
    if (detail && fields) throw ironicErrors.fieldsAndDetail()
    const drivers = type === 'classic' ? [] : activeDrivers(conductor)
    // In a list, `fields` does not know the interfaces: only `detail` shows them.
    const whole = Boolean(detail)
    return {
      body: { drivers: drivers.map((driver) => selectDriverFields(showDriver(driver, call, whole), fields, call)) },
    }
  },
  'drivers.get': (call, { conductor }) => {
    const driver = findDriver(activeDrivers(conductor), call.args.driver_name)
    return { body: selectDriverFields(showDriver(driver, call, true), call.args.fields, call) }
  },
  'drivers.properties': ({ args }, { conductor }) => {
    conductor.askDriver(args.driver_name, 'properties')
    const driver = conductor.drivers().find(({ name }) => name === args.driver_name)
    if (!driver) throw ironicErrors.driverUnknown(args.driver_name)
    return { body: driver.properties }
  },
}
