import fc from 'fast-check'
import { ignitionSchema, type SpecVersion } from '../../../../ignition/index.js'
import { BAD, CONTENTS, GOOD, KEYS, NAMES } from './config-values.js'

interface Schema {
  type?: string
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  definitions?: Record<string, Schema>
}

/**
 * Configs of a version, made from its schema. In a valid one a wrong value is rare; in a mutated one values of the wrong
 * type, nulls, unknown keys and keys in another case are thrown in.
 */
export function configs(version: SpecVersion, spoiled: boolean): fc.Arbitrary<object> {
  const { definitions } = ignitionSchema(version) as Schema
  const made = new Map<string, fc.Arbitrary<unknown>>()
  const maybeBad = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ arbitrary: good, weight: spoiled ? 60 : 4000 }, { arbitrary: fc.constantFrom(...BAD), weight: 1 })
  const values = (schema: Schema, key: string, within: string): fc.Arbitrary<unknown> => {
    if (schema.$ref !== undefined) return maybeBad(object(schema.$ref.slice('#/definitions/'.length)))
    switch (schema.type) {
      case 'boolean':
        return maybeBad(fc.boolean())
      case 'integer':
        return maybeBad(fc.constantFrom(...(GOOD[key] ?? [1])))
      case 'array':
        return maybeBad(fc.uniqueArray(values(schema.items!, key, within), { maxLength: 3, selector: selected }))
      default:
        return maybeBad(fc.constantFrom(...(good(key, within) ?? ['x', 'y', 'zz'])))
    }
  }
  const object = (name: string): fc.Arbitrary<unknown> => {
    const found = made.get(name)
    if (found) return found
    const properties = Object.entries(definitions![name]!.properties!)
    const required = REQUIRED[name] ?? []
    const fields = fc.record(Object.fromEntries(properties.map(([key, schema]) => [key, values(schema, key, name)])), {
      requiredKeys: spoiled ? [] : required.filter((key) => properties.some(([known]) => known === key)),
    })
    const noise = fc.record({ key: fc.constantFrom(...KEYS), value: fc.constantFrom(...BAD) })
    const noisy = fc
      .tuple(fields, seldom(noise, spoiled ? 25 : 100_000))
      .map(([own, extra]) => (extra ? { ...own, [extra.key]: extra.value } : own))
    made.set(name, noisy)
    return noisy
  }
  return (object('Config') as fc.Arbitrary<{ ignition?: unknown }>).map((config) => ({
    ...((spoiled ? config : sensible(config)) as { ignition?: unknown }),
    ignition: isRecord(config.ignition) ? { ...(sensible(config.ignition) as object), version } : { version },
  }))
}

/** Once in so many times, else null. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: times - 1 }, { arbitrary, weight: 1 })

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes out what cannot stand together, as far as that is seen from the object itself. */
function sensible(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => sensible(item, key))
  if (!isRecord(value)) return value
  const own = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, sensible(part, name)]))
  const { source } = own as { source?: unknown }
  if (key === 'user' || key === 'group') delete own['id']
  if ('httpHeaders' in own && !/^https?:/.test(String(source))) delete own['httpHeaders']
  if (key === 'partitions') for (const name of ['shouldExist', 'startMiB', 'label']) delete own[name]
  if (key === 'files') own['path'] = `/f${String(own['path'])}`
  if (key === 'directories') own['path'] = `/d${String(own['path'])}`
  if (key === 'luks') delete own['cex']
  if (key === 'clevis') delete own['custom']
  if (key === 'raid' && Array.isArray(own['devices']) && own['devices'].length === 0) own['devices'] = ['/dev/vdx']
  if (key === 'kernelArguments') delete own['shouldNotExist']
  if (key === 'verification' && !('hash' in own)) return {}
  if ('verification' in own && source === undefined) delete own['verification']
  if ('overwrite' in own && key === 'files' && !own['contents']) delete own['overwrite']
  return own
}

/** Fields that a valid config must have, by definition. */
const REQUIRED: Record<string, string[]> = {
  Resource: ['source'],
  CaReference: ['source'],
  HTTPHeader: ['name'],
  PasswdUser: ['name'],
  PasswdGroup: ['name'],
  Directory: ['path'],
  File: ['path', 'contents'],
  Link: ['path', 'target'],
  Disk: ['device'],
  Partition: ['number', 'label'],
  Filesystem: ['device', 'format'],
  Luks: ['name', 'device'],
  Tang: ['url', 'thumbprint'],
  Raid: ['name', 'level', 'devices'],
  Unit: ['name', 'contents'],
  Dropin: ['name'],
}

function good(key: string, within: string): readonly unknown[] | undefined {
  if (key === 'name') return NAMES[within] ?? ['core', 'root', 'data', 'swap']
  if (key === 'contents') return CONTENTS
  return GOOD[key]
}

/** Entries of a list that would be the same one to Ignition, mostly. */
function selected(entry: unknown): unknown {
  if (!isRecord(entry)) return entry
  const { path, name, source, url, number, label, device } = entry as Record<string, unknown>
  return path ?? name ?? source ?? url ?? number ?? label ?? device ?? entry
}

/** A config as text: compact or indented, its bytes sometimes damaged, a key sometimes repeated. */
export function texts(version: SpecVersion, spoiled: boolean): fc.Arbitrary<string> {
  const indent = fc.constantFrom(0, 0, 1, 2, '\t')
  const damage = fc.record({
    at: fc.nat(),
    what: fc.constantFrom('', '"', '{', '}', ']', ',', ':', '0', '-', 'é', '\\', '\n', 'n', '.', 'e'),
  })
  return fc
    .tuple(configs(version, spoiled), indent, seldom(damage, spoiled ? 3 : 100_000), fc.nat())
    .map(([config, space, harm, where]) => {
      const text = JSON.stringify(config, null, space)
      if (!harm) return text
      const at = harm.at % (text.length + 1)
      return where % 4 === 0 ? text.slice(0, at) : `${text.slice(0, at)}${harm.what}${text.slice(at + 1)}`
    })
}
