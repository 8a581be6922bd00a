import {
  BUILD_META,
  buildContradictions,
  CONTAINER,
  copyIso,
  copyMetal,
  copyPxe,
  OS_VERSIONS,
  shippedStream,
  verifyMachineOs,
  type OsVersion,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { buildMachineOs } from '../../runs/index.js'
import { silent, systemClock, type Clock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { fetchProgress } from '../output/fetch-progress.js'
import { makeCacheRequest } from '../options/cache-request.js'
import type * as takes from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { besideStream, downloadPolicyOf, streamFor } from './fetching.js'
import { readTextFile } from '../options/input-files.js'
import { hostArchitecture } from './host-architecture.js'
import { usageError } from '../usage-error.js'

type BuildOptions = CommandOptionValues<(typeof takes.MACHINE_OS_BUILD_OPTIONS)[number]> & { stream: string }
type CopyIsoOptions = CommandOptionValues<(typeof takes.MACHINE_OS_COPY_ISO_OPTIONS)[number]>
type CopyPxeOptions = CommandOptionValues<(typeof takes.MACHINE_OS_COPY_PXE_OPTIONS)[number]>
type CopyMetalOptions = CommandOptionValues<(typeof takes.MACHINE_OS_COPY_METAL_OPTIONS)[number]>
type VerifyOptions = CommandOptionValues<(typeof takes.MACHINE_OS_VERIFY_OPTIONS)[number]>

/** Where the container image has its files. */
const SHIPPED_FOLDER = '/coreos'

/** `ironstage machine-os build DIR` */
export async function machineOsBuild(options: BuildOptions, environment: Environment, folder: string): Promise<number> {
  const made = await buildMachineOs({
    ...downloadPolicyOf(options),
    folder,
    cache: await makeCacheRequest(options, environment),
    ...besideStream(options.stream),
    stream: await streamFor(options.stream, options, environment),
    version: chooseOsVersion(options, environment),
    architectures: options.architectures ?? [hostArchitecture()],
    clock: systemClock(),
    logger: silent,
    signal: environment.stopped,
    ...fetchProgress(environment.stderr),
  })
  for (const path of made) environment.stdout.either(options.json, { path }, `${path}`)
  return 0
}

/** `ironstage machine-os copy-iso DEST` */
export const machineOsCopyIso = (options: CopyIsoOptions, environment: Environment, to: string): Promise<number> =>
  withReport(options, environment, (onFile) => copyIso({ ...copyRequest(to, options, environment), onFile }))

/** `ironstage machine-os copy-pxe DEST` */
export const machineOsCopyPxe = (options: CopyPxeOptions, environment: Environment, to: string): Promise<number> =>
  withReport(options, environment, (onFile) =>
    copyPxe({
      ...copyRequest(to, options, environment),
      initrdOnly: options['initrd-only'] ?? false,
      onFile,
    }),
  )

/** `ironstage machine-os copy-metal DEST` */
export async function machineOsCopyMetal(
  options: CopyMetalOptions,
  environment: Environment,
  to: string,
): Promise<number> {
  const what = copiedFiles(options)
  return withReport(options, environment, (onFile) =>
    copyMetal({
      ...copyRequest(to, options, environment),
      onFile,
      what,
      version: chooseOsVersion(options, environment),
      architecture: options.architecture ?? hostArchitecture(),
    }),
  )
}

/** @throws UserError (usage) for options that exclude each other */
function copiedFiles(options: CopyMetalOptions): 'all' | 'pxe' | 'image-build' {
  const [what = 'all', other] = (['all', 'pxe', 'image-build'] as const).filter((name) => options[name])
  if (other === undefined) return what
  throw usageError(`--${what} cannot be used with --${other}`, 'leave one of them out')
}

/** The request of a copy; kernel arguments come from the container's `IP_OPTIONS` by default. */
function copyRequest(
  destination: string,
  options: Pick<CopyMetalOptions, 'source' | 'kargs' | 'fips'>,
  { variables }: Environment,
) {
  const { source = SHIPPED_FOLDER, kargs = variables['IP_OPTIONS'] ?? '', fips = false } = options
  const words = [...kargs.split(/\s+/).filter(Boolean), ...(fips ? ['fips=1'] : [])]
  return { source, destination, kargs: words, clock: systemClock() }
}

function chooseOsVersion({ 'coreos-version': version }: VerifyOptions, { variables }: Environment): OsVersion {
  const named = version ?? (variables['COREOS_VERSION'] || '9')
  const known = OS_VERSIONS.find((one) => one === named)
  if (known) return known
  throw usageError(`Unknown COREOS_VERSION: ${named}`, `choose ${OS_VERSIONS.join(' or ')}`, 'machine-os-version')
}

async function withReport(
  { json = false }: { json?: boolean },
  { stdout }: Environment,
  work: (onFile: (path: string, what: string) => void) => Promise<void>,
): Promise<number> {
  await work((path, what) => void stdout.either(json, { path, what }, `${path} ${what}`))
  return 0
}

/** `ironstage machine-os verify DIR`: exit code 1 when something is wrong. */
export async function machineOsVerify(
  options: VerifyOptions,
  environment: Environment,
  folder: string,
): Promise<number> {
  const clock = systemClock()
  const streams: Partial<Record<OsVersion, StreamMetadata>> = {}
  if (options.stream !== undefined)
    streams[chooseOsVersion(options, environment)] = await streamFor(options.stream, options, environment)
  else
    for (const version of options['coreos-version'] === undefined
      ? await shippedVersions(folder, clock)
      : [chooseOsVersion(options, environment)])
      streams[version] = await shippedStream(folder, version, clock)
  let wrong = 0
  const print = (path: string, ok: boolean, what: string) => {
    if (!ok) wrong++
    environment.stdout.either(options.json, { path, ok, what }, `${ok ? 'good ' : 'WRONG'}  ${path}  ${what}`)
  }
  for (const { path, ok, what } of await verifyMachineOs({ folder, streams, clock })) print(path, ok, what)
  if (options.build !== undefined) {
    const build = BUILD_META.read(await textOf(options.build), options.build)
    const container =
      options.container === undefined
        ? {}
        : { container: CONTAINER.read(await textOf(options.container), options.container) }
    const contradictions = Object.values(streams).flatMap((stream) =>
      buildContradictions(build, { stream, ...container }),
    )
    for (const what of contradictions) print(options.build, false, what)
    if (contradictions.length === 0)
      print(
        options.build,
        true,
        `disk images${options.container === undefined ? '' : ' and container'} are of this build`,
      )
  }
  return wrong === 0 ? 0 : 1
}

/** Versions of which the folder has the metadata. */
async function shippedVersions(folder: string, clock: Clock): Promise<OsVersion[]> {
  const found: OsVersion[] = []
  for (const version of OS_VERSIONS) {
    const isShipped = await shippedStream(folder, version, clock).then(
      () => true,
      () => false,
    )
    if (isShipped) found.push(version)
  }
  // Without a version the usual folder is named, so that the errors name the missing files.
  return found.length === 0 ? ['9'] : found
}

const textOf = (path: string): Promise<string> => readTextFile(path, 'metadata')
