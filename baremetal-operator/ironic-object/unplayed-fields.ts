import { isSameJson, METAL3_CRDS } from '../../base/kubernetes/index.js'
import { isObject } from '../../base/runtime/index.js'
import type { IronicSpec } from './ironic-rules.js'

/** Fields that make a lab another one. */
const PLAYED = new Set([
  'apiCredentialsName',
  'deployRamdisk.extraKernelParams',
  'deployRamdisk.sshKey',
  'extraConfig',
  'inspection.collectors',
  'inspection.vlanInterfaces',
  'networking.apiPort',
  'networking.ipAddress',
  'networkingService.enabled',
  'tls.certificateName',
  'version',
])

/** Fields whose members are looked at one by one. */
const GROUPS = ['deployRamdisk', 'inspection', 'networking', 'networkingService', 'tls']

/** Fields of an Ironic that change nothing in a lab, without those that have their default. */
export function unplayedFields(spec: IronicSpec): string[] {
  const schema = METAL3_CRDS.Ironic.schema.properties!['spec']!
  const fields = Object.entries(spec).flatMap(([field, value]): [string, unknown, unknown][] => {
    if (!GROUPS.includes(field) || !isObject(value)) return [[field, value, undefined]]
    const known = schema.properties?.[field]?.properties
    return Object.entries(value).map(([member, inner]) => [`${field}.${member}`, inner, known?.[member]?.default])
  })
  const unplayed = fields.filter(
    ([name, value, usual]) => !PLAYED.has(name) && !isIdle(value) && !isSameJson(value, usual),
  )
  const extra = (spec.extraConfig ?? []).flatMap(({ name = '', value = '' }, index) =>
    name === '' || value === '' ? [`extraConfig[${index}] (without a name or a value)`] : [],
  )
  const names = unplayed.map(([name]) => (name === 'database' ? 'database (a lab keeps its own: --state-dir)' : name))
  return [...names, ...extra].sort()
}

/** True for a value that says the same as its absence. */
function isIdle(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0 || value['enabled'] === false
  return value === false || value === '' || (Array.isArray(value) && value.length === 0)
}
