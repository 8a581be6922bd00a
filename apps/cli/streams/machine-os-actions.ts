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
import { silent, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { fetchProgress } from '../output/fetch-progress.js'
import { besideStream, fetchingOf, downloadPolicyOf, streamFor } from './fetching.js'
import { readTextFile } from '../options/input-files.js'
import { hostArchitecture } from './host-architecture.js'
import type { BuildFlags, CopyFlags, VerifyFlags } from './machine-os-commands.js'
import { usageError } from '../usage-error.js'

/** `ironstage machine-os build DIR` */
export async function machineOsBuild(folder: string, flags: BuildFlags, environment: Environment): Promise<number> {
  const made = await buildMachineOs({
    ...downloadPolicyOf(flags),
    folder,
    cache: await fetchingOf(flags, environment),
    ...besideStream(flags.stream),
    stream: await streamFor(flags.stream, flags, environment),
    version: chooseOsVersion(flags, environment),
    architectures: flags.architecture ?? [hostArchitecture()],
    clock: systemClock(),
    logger: silent,
    signal: environment.stopped,
    ...fetchProgress(environment.stderr),
  })
  for (const path of made) environment.stdout.either(flags.json, { path }, `${path}`)
  return 0
}

/** `ironstage machine-os copy-iso DEST` */
export const machineOsCopyIso = (to: string, flags: CopyFlags, environment: Environment): Promise<number> =>
  withReport(flags, environment, (onFile) => copyIso({ ...copyOptions(to, flags, environment), onFile }))

/** `ironstage machine-os copy-pxe DEST` */
export const machineOsCopyPxe = (to: string, flags: CopyFlags, environment: Environment): Promise<number> =>
  withReport(flags, environment, (onFile) =>
    copyPxe({ ...copyOptions(to, flags, environment), initrdOnly: flags.initrdOnly ?? false, onFile }),
  )

/** `ironstage machine-os copy-metal DEST` */
export const machineOsCopyMetal = (to: string, flags: CopyFlags, environment: Environment): Promise<number> =>
  withReport(flags, environment, (onFile) =>
    copyMetal({
      ...copyOptions(to, flags, environment),
      onFile,
      what: flags.pxe ? 'pxe' : flags.imageBuild ? 'image-build' : 'all',
      version: chooseOsVersion(flags, environment),
      architecture: flags.architecture ?? hostArchitecture(),
    }),
  )

/** Options of a copy; kernel arguments come from the container's `IP_OPTIONS` by default. */
function copyOptions(destination: string, flags: CopyFlags, { variables }: Environment) {
  const { source, kargs = variables['IP_OPTIONS'] ?? '', fips = false } = flags
  const words = [...kargs.split(/\s+/).filter(Boolean), ...(fips ? ['fips=1'] : [])]
  return { source, destination, kargs: words, clock: systemClock() }
}

function chooseOsVersion({ coreosVersion }: { coreosVersion?: OsVersion }, { variables }: Environment): OsVersion {
  const named = coreosVersion ?? (variables['COREOS_VERSION'] || '9')
  const known = OS_VERSIONS.find((one) => one === named)
  if (known) return known
  throw usageError(`Unknown COREOS_VERSION: ${named}`, `choose ${OS_VERSIONS.join(' or ')}`, 'machine-os-version')
}

async function withReport(
  { json = false }: CopyFlags,
  { stdout }: Environment,
  work: (onFile: (path: string, what: string) => void) => Promise<void>,
): Promise<number> {
  await work((path, what) => void stdout.either(json, { path, what }, `${path} ${what}`))
  return 0
}

/** `ironstage machine-os verify DIR`: exit code 1 when something is wrong. */
export async function machineOsVerify(folder: string, flags: VerifyFlags, environment: Environment): Promise<number> {
  const clock = systemClock()
  const streams: Partial<Record<OsVersion, StreamMetadata>> = {}
  if (flags.stream !== undefined)
    streams[chooseOsVersion(flags, environment)] = await streamFor(flags.stream, flags, environment)
  else
    for (const version of flags.coreosVersion === undefined ? await shipped(folder) : [flags.coreosVersion])
      streams[version] = await shippedStream(folder, version, clock)
  let wrong = 0
  const print = (path: string, ok: boolean, what: string) => {
    if (!ok) wrong++
    environment.stdout.either(flags.json, { path, ok, what }, `${ok ? 'good ' : 'WRONG'}  ${path}  ${what}`)
  }
  for (const { path, ok, what } of await verifyMachineOs({ folder, streams, clock })) print(path, ok, what)
  if (flags.build !== undefined) {
    const build = BUILD_META.read(await textOf(flags.build), flags.build)
    const container =
      flags.container === undefined ? {} : { container: CONTAINER.read(await textOf(flags.container), flags.container) }
    const contradictions = Object.values(streams).flatMap((stream) =>
      buildContradictions(build, { stream, ...container }),
    )
    for (const what of contradictions) print(flags.build, false, what)
    if (contradictions.length === 0)
      print(flags.build, true, `disk images${flags.container === undefined ? '' : ' and container'} are of this build`)
  }
  return wrong === 0 ? 0 : 1

  async function shipped(of: string): Promise<OsVersion[]> {
    const found: OsVersion[] = []
    for (const version of OS_VERSIONS)
      if (
        await shippedStream(of, version, clock).then(
          () => true,
          () => false,
        )
      )
        found.push(version)
    // Without a version the usual folder is named, so that the errors name the missing files.
    return found.length === 0 ? ['9'] : found
  }
}

const textOf = (path: string): Promise<string> => readTextFile(path, 'metadata')
