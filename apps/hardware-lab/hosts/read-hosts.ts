import type { ErrorObject } from 'ajv'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { parsePins, parseSshTarget, sshDiskSelector } from '../../../targets/index.js'
import {
  checkNesting,
  defined,
  didYouMean,
  nearestWord,
  readNested,
  UserError,
  yamlPlace,
  yamlProblem,
  readNamedText,
} from '../../../base/runtime/index.js'
import { schemaCheck, schemaProblem } from '../../../base/schemas/index.js'
import { deviceOf, sshUrlOf } from './host-names.js'
import type { Host, HostsDocument, HostSettings, HostsFile } from './host.js'
import { HOSTS_SCHEMA } from './hosts-schema.js'

/**
 * Reads a file of hosts, and checks all that can be checked without asking a host.
 *
 * @throws UserError `hosts-file` (usage) that names the line and the key
 */
export async function readHosts(path: string): Promise<HostsFile> {
  let text: string
  try {
    text = await readNamedText(path)
  } catch (cause) {
    throw new UserError('hosts-file', `${path} cannot be read`, {
      kind: 'usage',
      cause,
      remedy: await remedyWithout(path),
    })
  }
  return parseHosts(text, path)
}

/** A file of nearly this name may be meant: hosts.yaml in place of hosts.yml. */
async function remedyWithout(path: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => [])
  const near = nearestWord(
    basename(path),
    names.filter((name) => /\.(ya?ml|json)$/.test(name)),
  )
  return near === undefined ? 'write one with ironstage run init' : `name ${join(dirname(path), near)}`
}

/** @throws UserError `hosts-file` (usage) */
export function parseHosts(text: string, path: string): HostsFile {
  const lines = new LineCounter()
  const document = readNested(text, path, (each) =>
    parseDocument(each, { lineCounter: lines, prettyErrors: false, logLevel: 'error' }),
  )
  const lineOf = (keys: Path) => yamlPlace(document, keys, lines)?.line ?? 1
  const place: DescribePlace = (keys) => `${path}:${lineOf(keys)}`
  const [broken] = document.errors
  const kind = /^kind: *(\S+)/m.exec(text)?.[1]
  if (kind !== undefined && (broken?.code === 'MULTIPLE_DOCS' || broken === undefined))
    throw hostsFileError(
      path,
      `this is no hosts file: it has objects of Kubernetes (${kind})`,
      'BareMetalHosts are for ironstage bmh explain; ironstage run init writes a hosts file',
    )
  if (broken?.code === 'MULTIPLE_DOCS')
    throw hostsFileError(path, 'it has several YAML documents, and a hosts file has one', 'leave out the lines ---')
  if (broken) {
    const { line, message, shown } = yamlProblem(text, broken)
    throw hostsFileError(`${path}:${line}`, [message, ...shown].join('\n'))
  }
  const value: unknown = located(path, () => document.toJS({ maxAliasCount: 100 }))
  located(path, () => checkNesting(value, path))
  if (!hostsCheck.accepts(value)) throw hostsSchemaError(hostsCheck.errors(), place)
  const { run = {}, defaults = {}, hosts } = value
  const folder = dirname(resolve(path))
  const all = Object.entries(hosts).map(([name, own]) =>
    complete(name, mergeHostSettings(defaults, own), { place, folder }),
  )
  if (run.canary !== undefined && hosts[run.canary] === undefined)
    throw hostsFileError(
      place(['run', 'canary']),
      `there is no host ${run.canary}${didYouMean(run.canary, Object.keys(hosts))}`,
    )
  refuseTwins(all, place)
  const hostLines = new Map(Object.keys(hosts).map((name) => [name, lineOf(['hosts', name])]))
  return { path, folder, run, hosts: all, lines: hostLines }
}

const hostsCheck = schemaCheck<HostsDocument>(HOSTS_SCHEMA)

type Path = readonly (string | number)[]
type DescribePlace = (keys: Path) => string

const hostsFileError = (place: string, message: string, remedy?: string): UserError =>
  new UserError('hosts-file', `${place}: ${message}`, { kind: 'usage', ...defined({ remedy }) })

function hostsSchemaError(errors: readonly ErrorObject[], place: DescribePlace): UserError {
  const { path, message, error } = schemaProblem(errors, { document: 'the file', key: 'key ' })
  const name = error.propertyName ?? (error.params as { propertyName?: string }).propertyName
  if (name !== undefined)
    return hostsFileError(
      place([...path, name]),
      `${name} cannot be the name of a host`,
      'use small letters, digits, dots and hyphens, at most 63 of them',
    )
  const isOther = path.length === 0 && error.keyword === 'type'
  return hostsFileError(place(path), message, isOther ? 'write one with ironstage run init' : undefined)
}

/** Objects are merged key by key, except those that name one of several things. */
function mergeHostSettings(defaults: HostSettings, own: HostSettings): HostSettings {
  const all: HostSettings = { ...defaults, ...own }
  for (const key of ['bmc', 'ssh', 'expect', 'stages', 'ironic'] as const)
    if (defaults[key] && own[key]) Object.assign(all, { [key]: { ...defaults[key], ...own[key] } })
  if (defaults.labels && own.labels) all.labels = [...new Set([...defaults.labels, ...own.labels])]
  return all
}

function complete(
  name: string,
  settings: HostSettings,
  { place, folder }: { place: DescribePlace; folder: string },
): Host {
  const at = (...keys: Path) => place(['hosts', name, ...keys])
  const missing = (what: string, remedy: string) => hostsFileError(at(), `the host ${name} has no ${what}`, remedy)
  const { bmc, disk, live, ssh, ignition, image } = settings
  if (!disk) throw missing('disk', 'name the disk that is written by disk.serial, disk.wwn, disk.by-id or disk.by-path')
  refuseMixedDisk(disk, name, at('disk'))
  if (settings.installer === 'built-in')
    throw hostsFileError(at('installer'), `the built-in installer is for this machine, and ${name} is behind SSH`)
  if (!live) throw missing('live', 'say how its live system boots: live.iso, live.http, live.pxe or live.booted')
  if (ssh?.address === undefined) throw missing('ssh.address', 'name the address of its live system')
  if (!('booted' in live) && !bmc) throw missing('bmc', 'name its BMC, or say live: {booted: true}')
  if (bmc && (bmc.redfish === undefined) === (bmc.ipmi === undefined))
    throw hostsFileError(at('bmc'), `the BMC of ${name} needs either redfish or ipmi`)
  if (bmc && 'iso' in live && bmc.ipmi !== undefined)
    throw hostsFileError(
      at('live'),
      `IPMI knows no virtual media, so ${name} cannot boot an ISO`,
      'use live.pxe, or Redfish',
    )
  if (bmc && 'http' in live && bmc.ipmi !== undefined)
    throw hostsFileError(at('live'), `IPMI cannot set a URL to boot from`, 'use live.pxe, or Redfish')
  const { console: shown } = settings
  if (shown && 'ssh' in shown === 'command' in shown)
    throw hostsFileError(at('console'), `the console of ${name} needs either ssh or command`)
  if (shown && 'ssh' in shown) located(at('console', 'ssh'), () => parseSshTarget(`ssh://${shown.ssh}`))
  if (bmc?.console === 'redfish' && bmc.redfish === undefined)
    throw hostsFileError(at('bmc', 'console'), `the BMC of ${name} speaks IPMI: its console is sol`)
  if (typeof ignition === 'object' && (ignition.template === undefined) === (ignition.butane === undefined))
    throw hostsFileError(at('ignition'), 'ignition needs either template or butane')
  const imageFile = image === undefined || /^https?:/.test(image) ? {} : { image: resolve(folder, image) }
  const host = { ...settings, ...imageFile, name, disk, live, ssh: { ...ssh, address: ssh.address } }
  located(at('disk'), () => sshDiskSelector(...deviceOf(host)))
  located(at('ssh'), () => parseSshTarget(sshUrlOf(host)))
  located(at('ssh', 'host-keys'), () => parsePins(ssh['host-keys'] ?? []))
  for (const [index, { matches }] of (settings['post-checks'] ?? []).entries())
    if (matches !== undefined) located(at('post-checks', index, 'matches'), () => new RegExp(matches))
  return host
}

/** A place is no identity of a disk: it is named by one or the other, and only a place needs the size. */
function refuseMixedDisk(disk: Host['disk'], host: string, at: string): void {
  const { size, 'by-path': byPath } = disk
  const identity = (['serial', 'wwn', 'by-id', 'name'] as const).find((key) => disk[key] !== undefined)
  if (byPath !== undefined && identity !== undefined)
    throw hostsFileError(at, `the disk of ${host} is named by by-path and by ${identity}`, 'leave by-path out')
  if (byPath === undefined && size !== undefined)
    throw hostsFileError(at, `the size of the disk of ${host} is for by-path`, 'use expect.disk-size, or leave it out')
}

/** Puts the place in the file in front of a refusal. */
function located<T>(place: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw hostsFileError(place, error.message, error instanceof UserError ? error.remedy : undefined)
  }
}

/** Two hosts that share a machine would be installed twice at once. */
function refuseTwins(hosts: readonly Host[], place: DescribePlace): void {
  const keys: [string, (host: Host) => string | undefined][] = [
    ['SSH address', (host) => sshUrlOf(host).replace(/^ssh:\/\/[^@]*@/, '')],
    ['disk', ({ disk }) => disk.serial ?? disk.wwn ?? disk['by-id']],
    ['BMC', ({ bmc }) => bmc && `${bmc.redfish ?? bmc.ipmi}${bmc.system ?? ''}`],
    ...[0, 1, 2, 3].map(
      (n) =>
        ['MAC address', (host: Host) => host.macs?.[n]?.toLowerCase()] as [string, (host: Host) => string | undefined],
    ),
  ]
  for (const [what, keyOf] of keys) {
    const seen = new Map<string, string>()
    for (const host of hosts) {
      const key = keyOf(host)
      if (key === undefined) continue
      const other = seen.get(key)
      if (other !== undefined)
        throw hostsFileError(place(['hosts', host.name]), `${host.name} and ${other} have the same ${what} ${key}`)
      seen.set(key, host.name)
    }
  }
}
