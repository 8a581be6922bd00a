import { basename, join } from 'node:path'
import { countText, defined, silent, systemClock } from '../../../base/runtime/index.js'
import {
  checkedAddress,
  importDump,
  IMPORTED_FILES,
  takeDump,
  writeImport,
  writeTaken,
  type TakenDump,
} from '../../bmc-dumps/index.js'
import type { Environment } from '../environment.js'
import type { BMC_DUMP_OPTIONS, BMC_IMPORT_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type BmcImportOptions = CommandOptionValues<(typeof BMC_IMPORT_OPTIONS)[number]>
type BmcDumpOptions = CommandOptionValues<(typeof BMC_DUMP_OPTIONS)[number]>

/** `ironstage bmc import FOLDER|ZIP`: a machine of a dump, in a folder of its own. */
export async function bmcImport(
  options: BmcImportOptions,
  { stdout, stderr }: Environment,
  name: string,
): Promise<number> {
  const { 'keep-identities': keepsIdentities = false, 'dump-system': system, json = false } = options
  if (name === '') throw usageError('the dump is not named', 'give its folder or its zip')
  const folder = options['dump-out'] ?? `${basename(name).replace(/\.zip$/i, '')}-machine`
  const imported = await importDump(name, { system, keepsIdentities })
  await writeImport(imported, folder)
  const { base } = imported.record
  const hardware = join(folder, IMPORTED_FILES.hardware)
  const bmc = join(folder, IMPORTED_FILES.bmc)
  stderr.lines(imported.notes.map((note) => `${name}: ${note}`))
  stdout.either(json, { folder, hardware, bmc, base, resources: imported.dump.size, notes: imported.notes }, [
    `wrote ${hardware}, and ${bmc}: a BMC as ${base}, with ${countText(imported.dump.size, 'resource')} of the dump`,
    `ironstage up --hardware ${hardware} --redfish-port 8000`,
  ])
  return 0
}

/** Resources after which a line says how far the dump is. */
const RESOURCES_PER_LINE = 100

/** `ironstage bmc dump URL`: all resources of a BMC, in a folder; exit code 1 without any. */
export async function bmcDump(
  options: BmcDumpOptions,
  { stdout, stderr, stopped }: Environment,
  address: string,
): Promise<number> {
  if (address === '') throw usageError('the BMC is not named', 'give its address, as in https://192.0.2.11')
  const url = checkedAddress(address)
  const { 'bmc-user': username = 'admin', 'bmc-password': password, json = false } = options
  if (password === undefined)
    throw usageError('the password of the BMC is missing', 'name a file with it: --bmc-password-file FILE')
  const folder = options['dump-out'] ?? `${new URL(url).host.replaceAll(/[^\w.-]/g, '-')}-dump`
  const taken = await takeDump({
    url,
    username,
    password,
    clock: systemClock(),
    logger: silent,
    signal: stopped,
    progress: (read, left) => {
      if (read % RESOURCES_PER_LINE === 0 && read > 0)
        stderr.line(`read ${read} resources; ${left} known ones are left`)
    },
    ...defined({ certificate: options['bmc-certificate'], insecure: options['insecure-bmc'] }),
  })
  await writeTaken(taken, folder)
  stderr.lines(unreadLines(taken))
  stdout.either(json, { folder, resources: taken.dump.size, unread: taken.unread }, [
    `wrote ${countText(taken.dump.size, 'resource')} to ${folder}`,
    `ironstage bmc import ${folder}`,
  ])
  return 0
}

/** Resources that are named one by one. */
const MAX_NAMED_RESOURCES = 8

function unreadLines({ unread }: TakenDump): string[] {
  const lines = unread.slice(0, MAX_NAMED_RESOURCES).map(({ path, status }) => `${path} could not be read (${status})`)
  const more = unread.length - lines.length
  return more > 0 ? [...lines, `${countText(more, 'more resource')} could not be read: the README names them`] : lines
}
