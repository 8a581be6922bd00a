import { Option, type Command } from 'commander'
import {
  BUILD_META,
  buildContradictions,
  buildMachineOs,
  CONTAINER,
  copyIso,
  copyMetal,
  copyPxe,
  OS_VERSIONS,
  shippedStream,
  silent,
  systemClock,
  UserError,
  verifyMachineOs,
  type OsVersion,
  type Stream,
} from '../lab/index.js'
import { repeated } from './customize-options.js'
import { hostArchitecture } from './download.js'
import type { Environment } from './environment.js'
import { readText } from './given-files.js'
import { addFetchOptions, fetchingOf, reachOf, streamFor, type FetchFlags } from './fetch-options.js'
import { fetchProgress } from './fetch-progress.js'
import type { Does } from './metadata-commands.js'

interface CopyFlags {
  source: string
  kargs?: string
  fips?: boolean
  initrdOnly?: boolean
  all?: boolean
  pxe?: boolean
  imageBuild?: boolean
  coreosVersion?: OsVersion
  architecture?: string
  json?: boolean
}

/** Where the container image has its files. */
const SHIPPED = '/coreos'

/** Adds `machine-os` and its commands: what the container image of CoreOS in a release does. */
export function addMachineOsCommands(program: Command, does: Does): void {
  const root = program.command('machine-os').description('the image of CoreOS in a release: make, copy and verify it')
  const version = () =>
    new Option('--coreos-version <N>', 'CoreOS on RHEL 9 or 10 (COREOS_VERSION)').choices([...OS_VERSIONS])
  does<FetchFlags & { stream: string; coreosVersion?: OsVersion; architecture?: string[]; json?: boolean }>(
    addFetchOptions(root.command('build').description('fill the folder that the container image is made of'))
      .argument('<DIR>', 'folder to fill')
      .requiredOption('-s, --stream <STREAM>', 'name, URL or file of the stream')
      .addOption(repeated('-a, --architecture <ARCH>', "whose ISO (default: this host's)"))
      .addOption(version())
      .option('--json', 'print JSON'),
    async ([folder], flags, environment) => {
      const made = await buildMachineOs({
        ...{ ...reachOf(flags), folder: folder as string, cache: await fetchingOf(flags, environment) },
        stream: await streamFor(flags.stream, flags, environment),
        version: versionOf(flags, environment),
        architectures: flags.architecture ?? [hostArchitecture()],
        ...{ clock: systemClock(), logger: silent, signal: environment.stopped, ...fetchProgress(environment.stderr) },
      })
      for (const path of made) environment.stdout.write(flags.json ? `${JSON.stringify({ path })}\n` : `${path}\n`)
      return 0
    },
  )
  const copying = (command: Command) =>
    command
      .argument('<DEST>', 'folder to copy to')
      .option('--source <DIR>', 'folder with the ISOs', SHIPPED)
      .option('--json', 'print JSON')
  const withKargs = (command: Command) =>
    copying(command)
      .option('--kargs <ARGS>', 'more kernel arguments for the live system (IP_OPTIONS)')
      .option('--fips', 'let the live system start in FIPS mode')
  does<CopyFlags>(withKargs(root.command('copy-iso').description('copy the live ISOs')), ([to], flags, environment) =>
    told(flags, environment, (onFile) => copyIso({ ...copyOptions(to as string, flags, environment), onFile })),
  )
  does<CopyFlags>(
    copying(root.command('copy-pxe').description('extract what network boots need')).option(
      '--initrd-only',
      'the initramfs alone',
    ),
    ([to], flags, environment) =>
      told(flags, environment, (onFile) =>
        copyPxe({ ...copyOptions(to as string, flags, environment), initrdOnly: flags.initrdOnly ?? false, onFile }),
      ),
  )
  does<CopyFlags>(
    withKargs(root.command('copy-metal').description('both, with the links that Ironic’s images are known by'))
      .addOption(new Option('--all', 'everything (default)').conflicts(['pxe', 'imageBuild']))
      .addOption(new Option('--pxe', 'for network boots alone').conflicts('imageBuild'))
      .option('--image-build', 'what images are made of for each machine alone')
      .addOption(version())
      .option('-a, --architecture <ARCH>', "of the links without one (default: this host's)"),
    ([to], flags, environment) =>
      told(flags, environment, (onFile) =>
        copyMetal({
          ...{ ...copyOptions(to as string, flags, environment), onFile },
          what: flags.pxe ? 'pxe' : flags.imageBuild ? 'image-build' : 'all',
          ...{ version: versionOf(flags, environment), architecture: flags.architecture ?? hostArchitecture() },
        }),
      ),
  )
  does<VerifyFlags>(
    addFetchOptions(root.command('verify').description('hold live images against stream metadata'))
      .argument('<DIR>', 'folder with ISOs, kernels, initramfs and root filesystems')
      .option('-s, --stream <STREAM>', 'name, URL or file of the stream (default: those in DIR)')
      .addOption(version())
      .option('--build <FILE>', 'meta.json of the build that the images have to be of')
      .option('--container <FILE>', 'what skopeo inspect says of the container image of that build')
      .option('--json', 'print JSON'),
    ([folder], flags, environment) => verify(folder as string, flags, environment),
  )
}

/** As the container's environment has it. */
function copyOptions(destination: string, flags: CopyFlags, { variables }: Environment) {
  const { source, kargs = variables['IP_OPTIONS'] ?? '', fips = false } = flags
  const words = [...kargs.split(/\s+/).filter(Boolean), ...(fips ? ['fips=1'] : [])]
  return { source, destination, kargs: words, clock: systemClock() }
}

function versionOf({ coreosVersion }: { coreosVersion?: OsVersion }, { variables }: Environment): OsVersion {
  const named = coreosVersion ?? (variables['COREOS_VERSION'] || '9')
  const known = OS_VERSIONS.find((one) => one === named)
  if (known) return known
  throw new UserError('machine-os-version', `Unknown COREOS_VERSION: ${named}`, {
    remedy: `choose ${OS_VERSIONS.join(' or ')}`,
    kind: 'usage',
  })
}

async function told(
  { json = false }: CopyFlags,
  { stdout }: Environment,
  work: (onFile: (path: string, what: string) => void) => Promise<void>,
): Promise<number> {
  await work((path, what) => void stdout.write(json ? `${JSON.stringify({ path, what })}\n` : `${path} ${what}\n`))
  return 0
}

interface VerifyFlags extends FetchFlags {
  stream?: string
  coreosVersion?: OsVersion
  build?: string
  container?: string
  json?: boolean
}

async function verify(folder: string, flags: VerifyFlags, environment: Environment): Promise<number> {
  const clock = systemClock()
  const streams: Partial<Record<OsVersion, Stream>> = {}
  if (flags.stream !== undefined)
    streams[versionOf(flags, environment)] = await streamFor(flags.stream, flags, environment)
  else
    for (const version of flags.coreosVersion === undefined ? await shipped(folder) : [flags.coreosVersion])
      streams[version] = await shippedStream(folder, version, clock)
  let wrong = 0
  const print = (path: string, ok: boolean, what: string) => {
    if (!ok) wrong++
    environment.stdout.write(
      flags.json ? `${JSON.stringify({ path, ok, what })}\n` : `${ok ? 'good ' : 'WRONG'}  ${path}  ${what}\n`,
    )
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
    // The one that everything was made for first says what is missing.
    return found.length === 0 ? ['9'] : found
  }
}

const textOf = (path: string): Promise<string> => readText(path, 'metadata')
