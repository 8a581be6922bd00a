/** How the values of a field may vary between two runs of the same calls. */
export type Variation =
  /** Its value is chosen by the server: the same one in the same places. */
  | 'id'
  /** A time: there or not there. */
  | 'time'
  /** A URL: its path counts. */
  | 'url'
  /** Not compared at all, neither whether it is there. */
  | 'moment'

interface VaryingField {
  /** Name of a key; `*` stands for any characters. */
  readonly name: string
  readonly variation: Variation
  readonly why: string
}

const makeVaryingFields = (variation: Variation, why: string, ...names: string[]): VaryingField[] =>
  names.map((name) => ({ name, variation, why }))

/** The fields that are recognised by name. All others are compared as they are. */
export const VARYING_FIELDS: readonly VaryingField[] = [
  ...makeVaryingFields('id', 'chosen by the server', 'uuid', 'id', '*_uuid', '*_id'),
  ...makeVaryingFields(
    'time',
    'the time of the run',
    '*_at',
    'agent_last_heartbeat',
    'last_power_state_change',
    '*_refreshed',
  ),
  ...makeVaryingFields('url', 'host and port of the server or of the agent', 'href', 'next'),
  ...makeVaryingFields('moment', 'address and port of the agent', 'callback_url', 'agent_url'),
  ...makeVaryingFields('moment', 'certificate of the agent', 'agent_verify_ca'),
  ...makeVaryingFields('moment', 'which conductor holds a lock at that moment', 'reservation'),
  ...makeVaryingFields('moment', 'host name of the conductor', 'conductor'),
  ...makeVaryingFields(
    'moment',
    'a command may be at its end in one answer or the next',
    'command_result',
    'updated_at',
  ),
]

const PATTERNS = VARYING_FIELDS.map(({ name, variation }) => ({
  variation,
  pattern: new RegExp(`^${name.replaceAll('*', '.*')}$`),
}))
const foundVariations = new Map<string, Variation | undefined>()

/** The last row whose name fits. */
export function variationOf(key: string): Variation | undefined {
  if (!foundVariations.has(key) && foundVariations.size < 10_000)
    foundVariations.set(key, PATTERNS.findLast(({ pattern }) => pattern.test(key))?.variation)
  return foundVariations.get(key)
}

/** Headers that are compared, with the part of them that counts. */
export const COMPARED_HEADERS: Readonly<Record<string, (value: string) => string>> = {
  'content-type': (value) => value.replace(/\s*;.*$/, '').toLowerCase(),
  location: (value) => value.replace(/^https?:\/\/[^/]*/i, ''),
  allow: (value) =>
    value
      .split(/\s*,\s*/)
      .sort()
      .join(', '),
  'x-openstack-ironic-api-version': (value) => value,
  'x-openstack-ironic-api-minimum-version': (value) => value,
  'x-openstack-ironic-api-maximum-version': (value) => value,
}
